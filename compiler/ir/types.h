// compiler/ir/types.h - dtypes, axes and the type of an IR value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold {

/// Element types of arrays. Inside the IR only F32, F64 (computing), I64
/// (indices and integers, compared exactly) and Bool (truth values) occur.
enum class DType : std::uint8_t {
#define DTYPE(name, spelling, bytes, kind) name,
#include "compiler/ir/dtypes.def"
#undef DTYPE
};

enum class DTypeKind : std::uint8_t { Float, Signed, Unsigned, Truth };

std::size_t size_of(DType dtype);
DTypeKind kind_of(DType dtype);
std::string_view spelling_of(DType dtype); ///< "f32"
bool parse_dtype(std::string_view text, DType& dtype);

/// A set of axes, as bits: what a value depends on, or what is reduced.
enum class Axes : std::uint8_t { None = 0, I = 1, J = 2, IJ = 3 };

constexpr Axes operator|(Axes a, Axes b) {
    return Axes(std::uint8_t(a) | std::uint8_t(b));
}
constexpr Axes operator&(Axes a, Axes b) {
    return Axes(std::uint8_t(a) & std::uint8_t(b));
}
constexpr Axes without(Axes a, Axes b) {
    return Axes(std::uint8_t(a) & ~std::uint8_t(b));
}
constexpr bool contains(Axes set, Axes axes) {
    return (set & axes) == axes;
}
/// Returns j for i and i for j.
constexpr Axes exchanged(Axes axes) {
    return axes == Axes::I ? Axes::J : axes == Axes::J ? Axes::I : axes;
}
std::string_view spelling_of(Axes axes); ///< "", "i", "j", "ij"

/// A length known only when the kernel is called: the width of a value that
/// enters a sum linearly. Printed "?".
inline constexpr std::int32_t dynamic = -1;

/// The type of an IR value: rank 0 is a scalar, rank 1 a vector of `rows`
/// components, rank 2 a (rows, columns) matrix (parameters only).
struct Type {
    DType dtype = DType::F32;
    std::uint8_t rank = 0;
    Axes axes = Axes::None;
    std::int32_t rows = 1;
    std::int32_t columns = 1;

    friend bool operator==(const Type&, const Type&) = default;
};

/// Returns the number of components of a value: 1, its length, or rows *
/// columns; `dynamic` where that is its length.
constexpr std::int64_t components_of(const Type& type) {
    return type.rank == 0 ? 1 : std::int64_t(type.rows) * type.columns;
}

std::string spelling_of(const Type& type); ///< "f32[3] {i}"
/// The type in words, for messages: "a scalar", "a vector of 3 components".
std::string describe(const Type& type);

} // namespace tilefold
