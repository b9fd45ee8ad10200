// runtime/cpu/isa.cpp - of the instruction sets in isa.def, those that run
// here.

#include "runtime/cpu/isa.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/architecture.h"

namespace tilefold::cpu {

Isa isa_named(std::string_view text) {
    Isa isa{};
    if (!parse_isa(text, isa))
        fail(Code::UnknownTarget, {std::string(text), isa_spellings()});
    return isa;
}

std::optional<Isa> host_isa() {
    std::optional<Isa> best;
    for (const IsaRow& row : isa_rows())
        if (is_of_this_architecture(row) && pays(row) && runs(row.isa))
            best = row.isa;
    return best;
}

Isa least_isa() {
    for (const IsaRow& row : isa_rows())
        if (is_of_this_architecture(row))
            return row.isa;
    internal_error("no instruction set of this architecture");
}

} // namespace tilefold::cpu
