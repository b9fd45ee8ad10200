// runtime/cpu/float_mode.h - the floating-point mode kernels run in.
#pragma once

#include "runtime/cpu/architecture.h"

namespace tilefold::cpu {

/// Whether kernels replace results below the smallest normal number (1.2e-38,
/// or 2.2e-308 in double) by 0: on x86-64. On AArch64 they keep them, as its
/// processors would flush operands, too, and lose no time by them.
bool flushes_results();

/// While it lives, this thread rounds to nearest, treats small results as
/// flushes_results() says and traps nothing, whatever the caller had chosen: a
/// caller's mode must not change the bits of a result. Restores mode and
/// sticky flags.
class FloatMode {
public:
    FloatMode() : FloatMode(kernels_float_mode()) {}
    ~FloatMode() { set_float_registers(saved_); }
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

    /// What this thread had chosen, to run a callback of the caller in.
    unsigned callers() const { return unsigned(saved_); }
    explicit FloatMode(unsigned mode) : saved_(float_registers()) {
        set_float_registers(mode);
    }

private:
    std::uint64_t saved_;
};

} // namespace tilefold::cpu
