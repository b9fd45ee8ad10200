// runtime/cpu/trigonometric_lanes.cpp - SLEEF's sine, cosine and tangent of
// whole vectors, so that a lane's bits depend on that lane alone.
//
// SLEEF reduces an argument by pi in one of three ways, the cheapest that is
// right for the largest lane of the vector: a small number beside a large one,
// an infinity or NaN has another last bit than beside small ones. Here each
// call has lanes of one range only. Nearly always all are near 0, and one call
// takes them as they are.

#include <immintrin.h>

namespace {

using F8 = float __attribute__((vector_size(32)));
using D4 = double __attribute__((vector_size(32)));
using F16 = float __attribute__((vector_size(64)));
using D8 = double __attribute__((vector_size(64)));

/// The arguments from which SLEEF 3 reduces with more bits, and with all of
/// them.
struct Ranges {
    double middle, far;
};
constexpr Ranges of_f32{125, 39000}, of_f64{15, 1e14};

__attribute__((target("avx2"))) inline bool is_any_set(__m256i truth) {
    return _mm256_testz_si256(truth, truth) == 0;
}
__attribute__((target("avx512f"))) inline bool is_any_set(__m512i truth) {
    return _mm512_test_epi64_mask(truth, truth) != 0;
}

} // namespace

// Lanes that are of no interest are given as `filler`, which is in the range of
// the others. NaN is far.
#define PART(is_in, filler)                                                    \
    result = is_in ? library(is_in ? x : filler) : result;
#define IN_RANGES(name, Vector, Bits, kind, ranges, symbol, isa)               \
    Vector tilefold_sleef_##name##_##kind(Vector) __asm__(symbol);             \
    Vector tilefold_ranges_##name##_##kind(Vector) __asm__(                    \
        "tilefold_in_ranges_" #name "_" #kind);                                \
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
#define OF_FUNCTION(name)                                                      \
    IN_RANGES(name, F8, __m256i, f8, of_f32, "Sleef_" #name "f8_u10avx2",      \
              "avx2")                                                          \
    IN_RANGES(name, D4, __m256i, d4, of_f64, "Sleef_" #name "d4_u10avx2",      \
              "avx2")                                                          \
    IN_RANGES(name, F16, __m512i, f16, of_f32,                                 \
              "Sleef_" #name "f16_u10avx512f", "avx512f")                      \
    IN_RANGES(name, D8, __m512i, d8, of_f64, "Sleef_" #name "d8_u10avx512f",   \
              "avx512f")

extern "C" {
OF_FUNCTION(sin)
OF_FUNCTION(cos)
OF_FUNCTION(tan)
} // extern "C"
