// tests/runtime/x86_64/machine.h - what tests know of this architecture.
#pragma once

#include <cstdint>

namespace tilefold::test::machine {

/// What a caller may have chosen: rounds towards zero, reads and writes
/// subnormal numbers as 0.
constexpr unsigned callers_mode = 0x1f80 | 0x8040 | 0x6000;
/// Without sticky flags.
constexpr unsigned mode_bits = 0xffc0;

/// void store(void*, std::int64_t* to) { *to = 42; }
constexpr std::uint8_t stores_42[] = {
    0x48, 0xc7, 0x06, 42, 0, 0, 0, // mov qword [rsi], 42
    0xc3,                          // ret
};

} // namespace tilefold::test::machine
