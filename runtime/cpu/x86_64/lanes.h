// runtime/cpu/x86_64/lanes.h - the vector registers of AVX2 and AVX-512.
#pragma once

#include <immintrin.h>
#include <string_view>

/// DO(bytes, floats, doubles, suffix, target, …) of each: how many there are in
/// one, how SLEEF's functions of it end, and the compiler's name for code that
/// has them.
#define TILEFOLD_LANES(DO, ...)                                                \
    DO(32, 8, 4, "avx2", "avx2" __VA_OPT__(, ) __VA_ARGS__)                    \
    DO(64, 16, 8, "avx512f", "avx512f" __VA_OPT__(, ) __VA_ARGS__)

namespace tilefold::cpu {

/// How triples of this architecture begin.
inline constexpr std::string_view triples = "x86_64-";

using Bits32 = long long __attribute__((vector_size(32)));
using Bits64 = long long __attribute__((vector_size(64)));

__attribute__((target("avx2"))) inline bool is_any_set(Bits32 truth) {
    return _mm256_testz_si256(__m256i(truth), __m256i(truth)) == 0;
}
__attribute__((target("avx512f"))) inline bool is_any_set(Bits64 truth) {
    return _mm512_test_epi64_mask(__m512i(truth), __m512i(truth)) != 0;
}

} // namespace tilefold::cpu
