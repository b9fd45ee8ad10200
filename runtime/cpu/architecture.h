// runtime/cpu/architecture.h - what differs between architectures, besides
// isa.h and float_mode.h: each has a folder of its own that defines it all, and
// its vector registers in lanes.h there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilefold {
struct IsaRow;
} // namespace tilefold

namespace tilefold::cpu {

/// Whether kernels for it are of this architecture.
bool is_of_this_architecture(const IsaRow& row);
/// Whether it is the better choice where it runs: of some processors only.
bool pays(const IsaRow& row);

/// What a thread does between two looks at what it waits for.
void pause();

/// Ends what the processor may have kept of the instructions that were here;
/// after they are written, and before anybody runs them.
void forget_instructions(std::byte* code, std::size_t bytes);

/// The registers that FloatMode saves and sets. The mode is in the lower 32
/// bits; sticky flags are there or above.
std::uint64_t float_registers();
void set_float_registers(std::uint64_t registers);
/// The mode of FloatMode; no flag is set.
unsigned kernels_float_mode();

} // namespace tilefold::cpu
