// runtime/cpu/aarch64/isa.cpp - what the operating system says of the
// processor.

#include "runtime/cpu/isa.h"

#include "runtime/cpu/architecture.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

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
    // MIDR_EL1, which says implementer, part, variant and revision.
    std::ifstream file(
        "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    std::string word;
    if (!(file >> word))
        return "AArch64";
    const auto bits = std::strtoull(word.c_str(), nullptr, 16);
    const auto field = [&](int first, int count) {
        return unsigned(bits >> first & ((1ull << count) - 1));
    };
    char text[64];
    std::snprintf(text, sizeof text, "AArch64 %02x/%03x/r%up%u", field(24, 8),
                  field(4, 12), field(20, 4), field(0, 4));
    return text;
}

} // namespace tilefold::cpu
