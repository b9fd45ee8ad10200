// runtime/cpu/aarch64/isa.cpp - what the operating system says of the
// processor.

#include "runtime/cpu/isa.h"

#include "runtime/cpu/architecture.h"
#include "runtime/system/system.h"

namespace tilefold::cpu {

bool is_of_this_architecture(const IsaRow& row) {
    return std::string_view(row.triple).starts_with("aarch64-");
}

bool runs(Isa isa) {
    return isa == Isa::AArch64; // every processor has Advanced SIMD
}

bool pays(const IsaRow&) {
    return true;
}

std::string processor() {
    const std::string name = system::processor_name();
    return name.empty() ? "AArch64" : "AArch64 " + name;
}

} // namespace tilefold::cpu
