// bench/roofline/processor.h - which processor's ports a kernel meets.
#pragma once

#include <cpuid.h>

namespace roofline {

/// The family of a processor of AMD's, else 0.
static unsigned amd_family() {
    static const unsigned family = [] {
        unsigned word = 0, unused = 0;
        if (!__builtin_cpu_is("amd") ||
            !__get_cpuid(1, &word, &unused, &unused, &unused))
            return 0u;
        return (word >> 8 & 15) + (word >> 20 & 255);
    }();
    return family;
}

/// Zen 4 works on a register of 512 bits in two halves: every operation takes
/// twice as long as on Zen 5, and a broadcast to a register as long as a sum.
/// Whether the processor is a Zen 4. Zen 3, of the same family 25, has no
/// AVX-512. Asked once: a virtual machine takes a microsecond to answer.
[[maybe_unused]] static bool is_zen4() {
    return amd_family() == 25;
}

/// Zen 5 multiplies and adds on ports of their own: its operations are bound by
/// how many are under way, and what a register costs is a move.
[[maybe_unused]] static bool is_zen5() {
    return amd_family() == 26;
}

} // namespace roofline
