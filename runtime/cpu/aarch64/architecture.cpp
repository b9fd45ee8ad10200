// runtime/cpu/aarch64/architecture.cpp - see architecture.h.

#include "runtime/cpu/architecture.h"

#include "runtime/cpu/float_mode.h"

namespace tilefold::cpu {

/// `yield` does nothing on most of its processors; after `isb` they begin anew,
/// some 40 cycles later, like x86's pause.
void pause() {
    __asm__ volatile("isb" ::: "memory");
}

void forget_instructions(std::byte* code, std::size_t bytes) {
    auto* begin = reinterpret_cast<char*>(code);
    __builtin___clear_cache(begin, begin + bytes);
}

// FPCR, and above it FPSR, where the flags are.
std::uint64_t float_registers() {
    std::uint64_t mode = 0, flags = 0;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(mode), "=r"(flags));
    return (mode & 0xffffffff) | flags << 32;
}

void set_float_registers(std::uint64_t registers) {
    const std::uint64_t mode = registers & 0xffffffff, flags = registers >> 32;
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(mode), "r"(flags)
                     : "memory");
}

// Everything off: to nearest, no trap. FZ would flush operands as well as
// results, unlike x86's; subnormal numbers cost nothing more here.
unsigned kernels_float_mode() {
    return 0;
}

bool flushes_results() {
    return false;
}

} // namespace tilefold::cpu
