// runtime/cpu/isa.cpp - asks the processor (and, through XGETBV, the
// operating system) which instruction sets may be used.

#include "runtime/cpu/isa.h"

namespace tilefold::cpu {

bool runs(Isa isa) {
    switch (isa) {
    case Isa::X86_64_V3:
        return __builtin_cpu_supports("x86-64-v3");
    case Isa::X86_64_V4:
        return __builtin_cpu_supports("x86-64-v4");
    }
    return false;
}

std::optional<Isa> host_isa() {
    for (Isa isa : {Isa::X86_64_V4, Isa::X86_64_V3})
        if (runs(isa))
            return isa;
    return std::nullopt;
}

} // namespace tilefold::cpu
