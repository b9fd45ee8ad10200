// compiler/backends/cpu/isa.cpp - the rows of isa.def.

#include "compiler/backends/cpu/isa.h"

#include <algorithm>
#include <iterator>

namespace tilefold {
namespace {

constexpr IsaRow machines[] = {
#define ISA(name, spelling, bytes, vectors, masks, int8, bf16, blocks, ports,  \
            ...)                                                               \
    {Isa::name, spelling, bytes,  vectors,      masks,                         \
     int8,      bf16,     blocks, Ports::ports, __VA_ARGS__},
#include "compiler/backends/cpu/isa.def"
#undef ISA
};

} // namespace

std::span<const IsaRow> isa_rows() {
    return machines;
}

const IsaRow& row_of(Isa isa) {
    return machines[std::size_t(isa)];
}

std::string_view spelling_of(Isa isa) {
    return row_of(isa).spelling;
}

bool parse_isa(std::string_view text, Isa& isa) {
    const auto row = std::ranges::find(machines, text, &IsaRow::spelling);
    if (row != std::end(machines))
        isa = row->isa;
    return row != std::end(machines);
}

std::string isa_spellings() {
    std::string all;
    for (const IsaRow& row : machines)
        all += (all.empty() ? "" : ", ") + std::string(row.spelling);
    return all;
}

} // namespace tilefold
