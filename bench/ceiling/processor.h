// bench/ceiling/processor.h - which processor's ports a kernel meets.
#pragma once

#include <cpuid.h>

namespace ceiling {

/// Zen 4 works on a register of 512 bits in two halves: every operation takes
/// twice as long as on Zen 5, and a broadcast to a register as long as a sum.
/// Of its family, 25, Zen 3 has no AVX-512. Asked once: a virtual machine takes
/// a microsecond to answer.
static bool is_zen4() {
    static const bool is = [] {
        unsigned word = 0, unused = 0;
        if (!__builtin_cpu_is("amd") ||
            !__get_cpuid(1, &word, &unused, &unused, &unused))
            return false;
        const unsigned family = (word >> 8 & 15) + (word >> 20 & 255);
        return family == 25;
    }();
    return is;
}

} // namespace ceiling
