// runtime/cpu/float_mode.h - the floating-point mode kernels run in.
#pragma once

#include <immintrin.h>

namespace tilefold::cpu {

/// While it lives, this thread rounds to nearest, replaces results below the
/// smallest normal number (1.2e-38, or 2.2e-308 in double) by 0 and traps
/// nothing, whatever the caller had chosen: a caller's mode must not change
/// the bits of a result. Restores mode and sticky flags.
///
/// Results flush because Intel's cores stop at each instruction that underflows
/// (vscalef of a Gaussian far from its centre: 120 ns against 0.4, measured on
/// Sapphire Rapids), which made narrow kernels 16 times slower than wide ones.
/// Subnormal inputs keep their values.
class FloatMode {
public:
    FloatMode() : FloatMode(all_masked | flush_results) {}
    ~FloatMode() { _mm_setcsr(saved_); }
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

    /// What this thread had chosen, to run a callback of the caller in.
    unsigned callers() const { return saved_; }
    explicit FloatMode(unsigned mode) : saved_(_mm_getcsr()) {
        _mm_setcsr(mode);
    }

private:
    static constexpr unsigned all_masked = 0x1f80;
    static constexpr unsigned flush_results = 0x8000;
    unsigned saved_;
};

} // namespace tilefold::cpu
