// runtime/cpu/trigonometric_lanes.cpp - SLEEF's sine, cosine and tangent of
// whole vectors, so that a lane's bits depend on that lane alone.
//
// SLEEF reduces an argument by pi in one of three ways, the cheapest that is
// right for the largest lane of the vector: a small number beside a large one,
// an infinity or NaN has another last bit than beside small ones. Here each
// call has lanes of one range only. Nearly always all are near 0, and one call
// takes them as they are.

#include "runtime/cpu/symbol.h"
#include TILEFOLD_LANES_HEADER // of this architecture

namespace {

using tilefold::cpu::is_any_set;

#define VECTORS(bytes, floats, doubles, ...)                                   \
    using F##floats = float __attribute__((vector_size(bytes)));               \
    using D##doubles = double __attribute__((vector_size(bytes)));
TILEFOLD_LANES(VECTORS)

/// The arguments from which SLEEF 3 reduces with more bits, and with all of
/// them.
struct Ranges {
    double middle, far;
};
constexpr Ranges of_f32{125, 39000}, of_f64{15, 1e14};

} // namespace

// Lanes that are of no interest are given as `filler`, which is in the range of
// the others. NaN is far.
#define PART(is_in, filler)                                                    \
    result = is_in ? library(is_in ? x : filler) : result;
#define IN_RANGES(name, Vector, Bits, kind, ranges, symbol, isa)               \
    Vector tilefold_sleef_##name##_##kind(Vector) TILEFOLD_SYMBOL(symbol);     \
    Vector tilefold_ranges_##name##_##kind(Vector)                             \
        TILEFOLD_SYMBOL("tilefold_in_ranges_" #name "_" #kind);                \
    __attribute__((target(isa))) Vector tilefold_ranges_##name##_##kind(       \
        Vector x) {                                                            \
        constexpr auto library = tilefold_sleef_##name##_##kind;               \
        using Element = decltype(+x[0]);                                       \
        constexpr auto middle = Element(ranges.middle);                        \
        constexpr auto far = Element(ranges.far);                              \
        const Vector size = x < 0 ? -x : x;                                    \
        const auto is_near = size < middle;                                    \
        const auto is_far = ~(size < far);                                     \
        const auto is_between = ~is_near & ~is_far;                            \
        if (!is_any_set(Bits(~is_near)))                                       \
            return library(x);                                                 \
        const Vector none{};                                                   \
        Vector result = none;                                                  \
        PART(is_near, none)                                                    \
        PART(is_between, none + middle)                                        \
        PART(is_far, none + 2 * far)                                           \
        return result;                                                         \
    }
#define OF_REGISTER(bytes, floats, doubles, suffix, isa, name)                 \
    IN_RANGES(name, F##floats, tilefold::cpu::Bits##bytes, f##floats, of_f32,  \
              "Sleef_" #name "f" #floats "_u10" suffix, isa)                   \
    IN_RANGES(name, D##doubles, tilefold::cpu::Bits##bytes, d##doubles,        \
              of_f64, "Sleef_" #name "d" #doubles "_u10" suffix, isa)
#define OF_FUNCTION(name) TILEFOLD_LANES(OF_REGISTER, name)

extern "C" {
OF_FUNCTION(sin)
OF_FUNCTION(cos)
OF_FUNCTION(tan)
} // extern "C"
