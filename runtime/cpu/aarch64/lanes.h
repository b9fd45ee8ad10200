// runtime/cpu/aarch64/lanes.h - the vector registers of Advanced SIMD.
#pragma once

#include <arm_neon.h>
#include <string_view>

/// DO(bytes, floats, doubles, suffix, target, …) of each: how many there are in
/// one, how SLEEF's functions of it end, and the compiler's name for code that
/// has them.
#define TILEFOLD_LANES(DO, ...)                                                \
    DO(16, 4, 2, "advsimd", "+simd" __VA_OPT__(, ) __VA_ARGS__)

namespace tilefold::cpu {

/// How triples of this architecture begin.
inline constexpr std::string_view triples = "aarch64-";

using Bits16 = long long __attribute__((vector_size(16)));

inline bool is_any_set(Bits16 truth) {
    return vmaxvq_u32(uint32x4_t(truth)) != 0;
}

} // namespace tilefold::cpu
