// python_bindings/element_types.cpp - see element_types.h.
#include "python_bindings/element_types.h"

#include <optional>

namespace tilefold::python {

namespace {

constexpr DType every_dtype[] = {
#define DTYPE(name, spelling, bytes, kind) DType::name,
#include "compiler/ir/dtypes.def"
#undef DTYPE
};

/// What a character of the struct module's format stands for.
std::optional<DTypeKind> kind_of_format(char character) {
    if (std::string_view("def").find(character) != std::string_view::npos)
        return DTypeKind::Float;
    if (std::string_view("bhilqn").find(character) != std::string_view::npos)
        return DTypeKind::Signed;
    if (std::string_view("BHILQN").find(character) != std::string_view::npos)
        return DTypeKind::Unsigned;
    if (character == '?')
        return DTypeKind::Truth;
    return std::nullopt;
}

const char* stem_of(DTypeKind kind) {
    switch (kind) {
    case DTypeKind::Float:
        return "float";
    case DTypeKind::Signed:
        return "int";
    case DTypeKind::Unsigned:
        return "uint";
    case DTypeKind::Truth:
        return "bool";
    }
    return "";
}

} // namespace

bool read_format(std::string_view format, std::size_t bytes, DType& dtype,
                 bool& is_complex) {
    if (!format.empty() &&
        std::string_view("@=<").find(format[0]) != std::string_view::npos)
        format.remove_prefix(1);
    else if (format.size() == 2 && bytes == 1) // one byte has no order
        format.remove_prefix(1);
    is_complex = format == "Zf" || format == "Zd";
    if (is_complex) {
        dtype = format == "Zf" ? DType::F32 : DType::F64;
        return bytes == 2 * size_of(dtype);
    }
    if (format.size() != 1)
        return false;
    std::optional<DTypeKind> kind = kind_of_format(format[0]);
    for (DType candidate : every_dtype)
        if (kind == kind_of(candidate) && bytes == size_of(candidate) &&
            candidate != DType::BF16) {
            dtype = candidate;
            return true;
        }
    return false;
}

std::string numpy_name(DType dtype, bool is_complex) {
    if (is_complex)
        return "complex" + std::to_string(element_type(dtype, true).bits);
    if (dtype == DType::BF16)
        return "bfloat16";
    std::string stem = stem_of(kind_of(dtype));
    if (kind_of(dtype) == DTypeKind::Truth)
        return stem;
    return stem + std::to_string(8 * size_of(dtype));
}

} // namespace tilefold::python
