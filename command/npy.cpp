// command/npy.cpp - NumPy's files: a magic word, a version, a header that is
// the text of a dictionary, the elements (numpy.lib.format).

#include "command/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace tilefold::command {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are read as they lie");

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, alignment = 64;

struct TypeRow {
    const char* name; ///< NumPy's
    char kind;        ///< of its description, as '<f4'
    DLDataTypeCode code;
    int bits;
};
constexpr TypeRow types[] = {
    {"bool", 'b', kDLBool, 8},          {"complex128", 'c', kDLComplex, 128},
    {"complex64", 'c', kDLComplex, 64}, {"float16", 'f', kDLFloat, 16},
    {"float32", 'f', kDLFloat, 32},     {"float64", 'f', kDLFloat, 64},
    {"int16", 'i', kDLInt, 16},         {"int32", 'i', kDLInt, 32},
    {"int64", 'i', kDLInt, 64},         {"int8", 'i', kDLInt, 8},
    {"uint16", 'u', kDLUInt, 16},       {"uint32", 'u', kDLUInt, 32},
    {"uint64", 'u', kDLUInt, 64},       {"uint8", 'u', kDLUInt, 8},
};

DLDataType type_of(const TypeRow& row) {
    return {std::uint8_t(row.code), std::uint8_t(row.bits), 1};
}

const TypeRow& row_of(DLDataType type) {
    for (const TypeRow& row : types)
        if (row.code == type.code && row.bits == type.bits)
            return row;
    throw std::runtime_error("an element type that NumPy has not");
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw std::runtime_error(path + ": " + what);
}

/// The value of a key of the header.
std::string field(const std::string& path, const std::string& header,
                  const char* key, const char* pattern) {
    std::smatch found;
    const std::regex wanted("'" + std::string(key) + "': *" + pattern);
    if (!std::regex_search(header, found, wanted))
        fail(path, "its header has no '" + std::string(key) + "': " + header);
    return found[1];
}

DLDataType described_type(const std::string& path, const std::string& text) {
    if (text.size() >= 3 && (text[0] == '<' || text[0] == '|'))
        for (const TypeRow& row : types)
            if (text[1] == row.kind &&
                text.substr(2) == std::to_string(row.bits / 8))
                return type_of(row);
    fail(path, "elements of '" + text +
                   "' are no numbers of this machine; save it as float64");
}

std::vector<std::int64_t> described_shape(const std::string& text) {
    std::vector<std::int64_t> shape;
    const std::regex number("[0-9]+");
    for (std::sregex_iterator k(text.begin(), text.end(), number), end;
         k != end; ++k)
        shape.push_back(std::stoll(k->str()));
    return shape;
}

/// Returns the header behind the magic word.
std::string read_header(const std::string& path, std::ifstream& file) {
    std::array<char, magic_bytes + 2> begin{};
    if (!file.read(begin.data(), begin.size()) ||
        std::memcmp(begin.data(), magic, magic_bytes) != 0)
        fail(path, "it is no .npy file of NumPy");
    std::uint32_t length = 0;
    file.read(reinterpret_cast<char*>(&length),
              begin[magic_bytes] == 1 ? 2 : 4);
    std::string header(std::min(length, std::uint32_t(1) << 20), '\0');
    if (!file.read(header.data(), std::streamsize(header.size())))
        fail(path, "it ends within its header");
    return header;
}

} // namespace

std::int64_t OwnedArray::size() const {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape)
        size *= extent;
    return size;
}

DLDataType type_named(const std::string& name) {
    for (const TypeRow& row : types)
        if (name == row.name)
            return type_of(row);
    throw std::invalid_argument("'" + name + "' is no element type");
}

std::string name_of(DLDataType type) {
    return row_of(type).name;
}

OwnedArray read_npy(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        fail(path, "it cannot be opened");
    const std::string header = read_header(path, file);
    OwnedArray array;
    array.type =
        described_type(path, field(path, header, "descr", "'([^']*)'"));
    array.shape =
        described_shape(field(path, header, "shape", "\\(([^)]*)\\)"));
    if (field(path, header, "fortran_order", "(True|False)") == "True") {
        std::int64_t stride = 1;
        for (const std::int64_t extent : array.shape) {
            array.strides.push_back(stride);
            stride *= extent;
        }
    }
    const auto begin = file.tellg();
    const auto bytes = array.size() * (array.type.bits / 8);
    if (file.seekg(0, std::ios::end).tellg() - begin < bytes)
        fail(path, "it has fewer elements than its header says");
    array.bytes.resize(std::size_t(bytes));
    file.seekg(begin).read(reinterpret_cast<char*>(array.bytes.data()),
                           std::streamsize(bytes));
    return array;
}

void write_npy(const std::string& path, const Tensor& array) {
    const TypeRow& row = row_of(array.type());
    std::string shape;
    for (const std::int64_t extent : array.shape())
        shape += std::to_string(extent) + ", ";
    if (array.shape().size() > 1)
        shape.erase(shape.size() - 2);
    else if (!shape.empty())
        shape.pop_back(); // (5,) of one dimension
    std::string header =
        "{'descr': '" + std::string(row.bits == 8 ? "|" : "<") + row.kind +
        std::to_string(row.bits / 8) + "', 'fortran_order': False, 'shape': (" +
        shape + "), }";
    const std::size_t before = magic_bytes + 4;
    header.resize((before + header.size()) / alignment * alignment + alignment -
                      before,
                  ' ');
    header.back() = '\n';
    const auto length = std::uint16_t(header.size());
    std::ofstream file(path, std::ios::binary);
    file.write(magic, magic_bytes).write("\1\0", 2);
    file.write(reinterpret_cast<const char*>(&length), 2) << header;
    const DLTensor& tensor = array.tensor();
    file.write(static_cast<const char*>(tensor.data) + tensor.byte_offset,
               std::streamsize(array.size() * row.bits / 8));
    if (!file.flush())
        fail(path, "it cannot be written");
}

} // namespace tilefold::command
