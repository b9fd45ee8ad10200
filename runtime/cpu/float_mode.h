// runtime/cpu/float_mode.h - the floating-point mode kernels run in.
#pragma once

#include <immintrin.h>

namespace tilefold::cpu {

/// While it lives, this thread rounds to nearest, keeps subnormals and traps
/// nothing, whatever the caller had chosen: a caller's mode must not change
/// the bits of a result. Restores mode and sticky flags.
class FloatMode {
public:
    FloatMode() : FloatMode(all_masked) {}
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
    unsigned saved_;
};

} // namespace tilefold::cpu
