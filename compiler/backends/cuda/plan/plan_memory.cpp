// compiler/backends/cuda/plan/plan_memory.cpp - see plan_memory.h.

#include "compiler/backends/cuda/plan/plan_memory.h"

#include "compiler/backends/cuda/sites/bounded.h"

#include <algorithm>

namespace tilefold::cuda {

std::int64_t words_of(const Record& record) {
    return (record.bytes() + 3) / 4;
}

std::int64_t words_of_row(const Registers& registers) {
    return words_of(registers.row.record) + words_of(registers.partial) +
           words_of(registers.state);
}

std::int64_t slots_of(const Record& state) {
    std::int64_t slots = 0;
    for (const Field& field : state.fields())
        slots += std::max<std::int64_t>(field.length, 1);
    return slots;
}

bool has_lists(const Registers& registers) {
    return std::ranges::any_of(
        registers.reductions, [&](const LoweredReduction& reduction) {
            return is_list(registers.graph[reduction.id]);
        });
}

std::int64_t words_of_loop(const Registers& registers) {
    return words_of_row(registers) -
           (has_lists(registers) ? words_of(registers.state) : 0);
}

std::int64_t bytes_of_task(const Registers& registers) {
    return 8 * (std::int64_t(registers.graph.arguments.size()) + 16);
}

std::int64_t bytes_of_columns(const Plan& plan, const Registers& registers) {
    return (registers.column.record.bytes() / 16 + 1) * 16 * plan.tile_columns;
}

std::int64_t warps_folded(const Plan& plan, const Registers& registers) {
    return folds_blocks(registers.graph) ? plan.threads / 32 : 1;
}

std::int64_t bytes_of_states(const Registers& registers, std::int64_t count) {
    return (slots_of(registers.state) + 1) * 8 * count;
}

} // namespace tilefold::cuda
