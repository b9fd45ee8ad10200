// runtime/cpu/x86_64/architecture.cpp - see architecture.h.

#include "runtime/cpu/architecture.h"

#include "runtime/cpu/float_mode.h"

#include <immintrin.h>

namespace tilefold::cpu {

void pause() {
    _mm_pause();
}

void forget_instructions(std::byte*, std::size_t) {
    // Its processors see that memory was written.
}

// Flags are in MXCSR, too.
std::uint64_t float_registers() {
    return _mm_getcsr();
}

void set_float_registers(std::uint64_t registers) {
    _mm_setcsr(unsigned(registers));
}

// Results flush because Intel's cores stop at each instruction that underflows
// (vscalef of a Gaussian far from its centre: 120 ns against 0.4, measured on
// Sapphire Rapids), which made narrow kernels 16 times slower than wide ones.
// Subnormal inputs keep their values.
unsigned kernels_float_mode() {
    constexpr unsigned all_masked = 0x1f80, flush_results = 0x8000;
    return all_masked | flush_results;
}

bool flushes_results() {
    return true;
}

} // namespace tilefold::cpu
