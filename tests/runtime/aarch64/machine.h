// tests/runtime/aarch64/machine.h - what tests know of this architecture.
#pragma once

#include <cstdint>

namespace tilefold::test::machine {

/// What a caller may have chosen: FPCR's FZ, which reads and writes subnormal
/// numbers as 0, and RMode, towards zero.
constexpr unsigned callers_mode = 1u << 24 | 3u << 22;
/// Sticky flags are in another register.
constexpr unsigned mode_bits = ~0u;

/// void store(void*, std::int64_t* to) { *to = 42; }
constexpr std::uint8_t stores_42[] = {
    0x42, 0x05, 0x80, 0xd2, // mov x2, #42
    0x22, 0x00, 0x00, 0xf9, // str x2, [x1]
    0xc0, 0x03, 0x5f, 0xd6, // ret
};

} // namespace tilefold::test::machine
