// runtime/cpu/math_library.cpp - SLEEF's functions, and the rare ones of
// special.h, as tables.
//
// sleef.h declares a vector function only where the compiler targets its
// instruction set; here only addresses are taken, by symbol name.

#include "runtime/cpu/math_library.h"

#include "compiler/backends/cpu/isa.h"
#include "formulas/diagnostic.h"
#include "runtime/cpu/symbol.h"
#include TILEFOLD_LANES_HEADER // of this architecture

#include <array>
#include <cstddef>
#include <string>

extern "C" {

#define SYMBOL(name, kind, symbol)                                             \
    extern const char tilefold_##name##_##kind TILEFOLD_SYMBOL(symbol);
#define OF_SLEEF(bytes, floats, doubles, suffix, target, name, stem, error)    \
    SYMBOL(name, f##floats, "Sleef_" stem "f" #floats error suffix)            \
    SYMBOL(name, d##doubles, "Sleef_" stem "d" #doubles error suffix)
#define OF_Sleef10(name, stem)                                                 \
    SYMBOL(name, scalar, "Sleef_" stem "_u10")                                 \
    TILEFOLD_LANES(OF_SLEEF, name, stem, "_u10")
#define OF_Sleef15(name, stem)                                                 \
    SYMBOL(name, scalar, "Sleef_" stem "_u15")                                 \
    TILEFOLD_LANES(OF_SLEEF, name, stem, "_u15")
#define IN_DOUBLE(bytes, floats, doubles, suffix, target, name, stem, error)   \
    SYMBOL(name, f##floats, "tilefold_in_double_" stem "_f" #floats)           \
    SYMBOL(name, d##doubles, "Sleef_" stem "d" #doubles error suffix)
#define OF_Sleef10InDouble(name, stem)                                         \
    SYMBOL(name, scalar, "Sleef_" stem "_u10")                                 \
    TILEFOLD_LANES(IN_DOUBLE, name, stem, "_u10")
#define OF_Sleef15InDouble(name, stem)                                         \
    SYMBOL(name, scalar, "Sleef_" stem "_u15")                                 \
    TILEFOLD_LANES(IN_DOUBLE, name, stem, "_u15")
#define IN_RANGES(bytes, floats, doubles, suffix, target, name, stem)          \
    SYMBOL(name, f##floats, "tilefold_in_ranges_" stem "_f" #floats)           \
    SYMBOL(name, d##doubles, "tilefold_in_ranges_" stem "_d" #doubles)
#define OF_Sleef10InRanges(name, stem)                                         \
    SYMBOL(name, scalar, "Sleef_" stem "_u10")                                 \
    TILEFOLD_LANES(IN_RANGES, name, stem)
#define OF_SPECIAL(bytes, floats, doubles, suffix, target, name, symbol)       \
    SYMBOL(name, f##floats, "tilefold_special_" #symbol "_f" #floats)          \
    SYMBOL(name, d##doubles, "tilefold_special_" #symbol "_d" #doubles)
#define OF_Special(name, symbol)                                               \
    SYMBOL(name, scalar, "tilefold_special_" #symbol "_scalar")                \
    TILEFOLD_LANES(OF_SPECIAL, name, symbol)
#define EXTERNAL(name, arity, library, symbol) OF_##library(name, symbol)
#include "compiler/ir/externals.def"
#undef EXTERNAL

} // extern "C"

namespace tilefold {
namespace {

struct Lanes {
    DType real;
    std::int32_t lanes;
};
constexpr Lanes all_lanes[] = {
#define OF_REGISTER(bytes, floats, doubles, ...)                               \
    {DType::F32, floats}, {DType::F64, doubles},
    TILEFOLD_LANES(OF_REGISTER)
#undef OF_REGISTER
};
constexpr std::size_t kinds = std::size(all_lanes);

/// A row of externals.def, with a vector function for each of all_lanes.
struct External {
    const void* of_vector[kinds];
    const void* of_scalar;
};
#define ADDRESSES(bytes, floats, doubles, suffix, target, name)                \
    &tilefold_##name##_f##floats, &tilefold_##name##_d##doubles,
constexpr External externals[] = {
#define EXTERNAL(name, arity, library, symbol)                                 \
    {{TILEFOLD_LANES(ADDRESSES, name)}, &tilefold_##name##_scalar},
#include "compiler/ir/externals.def"
#undef EXTERNAL
};

/// The table that kernels read: the vector and the scalar function of each row
/// in turn.
using Table = std::array<const void*, 2 * std::size(externals)>;

constexpr std::array<Table, kinds> tables = [] {
    std::array<Table, kinds> all{};
    for (std::size_t kind = 0; kind < kinds; ++kind)
        for (std::size_t k = 0; k < std::size(externals); ++k) {
            all[kind][2 * k] = externals[k].of_vector[kind];
            all[kind][2 * k + 1] = externals[k].of_scalar;
        }
    return all;
}();

constexpr bool has_table(std::string_view triple, std::int32_t bytes) {
    bool has_floats = false, has_doubles = false;
    for (const Lanes& one : all_lanes) {
        has_floats |= one.real == DType::F32 && one.lanes * 4 == bytes;
        has_doubles |= one.real == DType::F64 && one.lanes * 8 == bytes;
    }
    return (has_floats && has_doubles) || !triple.starts_with(cpu::triples);
}
#define ISA(name, spelling, bytes, vectors, masks, int8, bf16, blocks, ports,  \
            triple, ...)                                                       \
    static_assert(has_table(triple, bytes),                                    \
                  spelling " has registers that lanes.h lacks");
#include "compiler/backends/cpu/isa.def"
#undef ISA

} // namespace

const void* const* math_functions(DType real, std::int32_t lanes) {
    for (std::size_t kind = 0; kind < kinds; ++kind)
        if (all_lanes[kind].real == real && all_lanes[kind].lanes == lanes)
            return tables[kind].data();
    internal_error("no functions of " + std::to_string(lanes) + " lanes");
}

} // namespace tilefold
