// compiler/ir/types.cpp - dtypes, axes and types as text.

#include "compiler/ir/types.h"

#include <iterator>

namespace tilefold {
namespace {

struct DTypeRow {
    std::string_view spelling;
    std::size_t bytes;
    DTypeKind kind;
};
constexpr DTypeRow dtypes[] = {
#define DTYPE(name, spelling, bytes, kind) {spelling, bytes, DTypeKind::kind},
#include "compiler/ir/dtypes.def"
#undef DTYPE
};

std::string spelling_of_length(std::int32_t length) {
    return length == dynamic ? "?" : std::to_string(length);
}

std::string_view braces_of(Axes axes) {
    constexpr std::string_view texts[] = {"{}", "{i}", "{j}", "{i,j}"};
    return texts[std::size_t(axes)];
}

} // namespace

std::size_t size_of(DType dtype) {
    return dtypes[std::size_t(dtype)].bytes;
}

DTypeKind kind_of(DType dtype) {
    return dtypes[std::size_t(dtype)].kind;
}

std::string_view spelling_of(DType dtype) {
    return dtypes[std::size_t(dtype)].spelling;
}

bool parse_dtype(std::string_view text, DType& dtype) {
    for (std::size_t k = 0; k < std::size(dtypes); ++k)
        if (dtypes[k].spelling == text) {
            dtype = DType(k);
            return true;
        }
    return false;
}

std::string_view spelling_of(Axes axes) {
    constexpr std::string_view texts[] = {"", "i", "j", "ij"};
    return texts[std::size_t(axes)];
}

std::string spelling_of(const Type& type) {
    std::string text(spelling_of(type.dtype));
    if (type.rank >= 1)
        text += "[" + spelling_of_length(type.rows);
    if (type.rank == 2)
        text += "," + spelling_of_length(type.columns);
    if (type.rank >= 1)
        text += "]";
    return text.append(" ").append(braces_of(type.axes));
}

std::string describe(const Type& type) {
    if (type.rank == 0)
        return "a scalar";
    if (type.rank == 2)
        return "a matrix of " + std::to_string(type.rows) + " × " +
               std::to_string(type.columns) + " components";
    if (type.rows == dynamic)
        return "a vector of any width";
    return "a vector of " + std::to_string(type.rows) +
           (type.rows == 1 ? " component" : " components");
}

} // namespace tilefold
