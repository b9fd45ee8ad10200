// compiler/backends/cuda/plan/plan_segments.cpp - see plan_segments.h.

#include "compiler/backends/cuda/plan/plan_segments.h"

#include "compiler/backends/cuda/plan/plan_memory.h"
#include "compiler/backends/cuda/sites/bounded.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// An H100 or H200 has so many. Bits of results are those of this card on all
/// others, which take as much time where their number is not far from it.
constexpr std::int64_t multiprocessors = 132;
/// What a multiprocessor has.
constexpr std::int64_t registers_there = 65536, threads_there = 2048,
                       most_blocks_there = 32, shared_there = 227 * 1024,
                       shared_of_block = 1024;
/// A thread has at most so many registers; this many beside rows and a column.
constexpr std::int64_t most_registers_there = 255, registers_beside_rows = 24;
/// A row has at most so many states.
constexpr std::int64_t most_segments = 64;

/// What a state costs, in columns met: to begin a block; to write and merge a
/// slot of 8 bytes; to fill a list with the smallest of another segment, a
/// place of it (measured on an H200).
constexpr std::int64_t columns_of_block = 16, columns_of_slot = 4,
                       columns_of_place = 250;

std::int64_t registers_of_thread(const Plan& plan, const Registers& registers) {
    if (plan.uses_value_matmul())
        return most_registers_there;
    if (plan.is_tiled())
        return 128; // that of pairs.cuh's bounds
    return std::min(words_of_loop(registers) * plan.rows_per_thread +
                        words_of(registers.column.record) +
                        registers_beside_rows,
                    most_registers_there);
}

std::int64_t places_of_lists(const Registers& registers) {
    std::int64_t places = 0;
    for (const LoweredReduction& reduction : registers.reductions)
        if (is_list(registers.graph[reduction.id]))
            for (const StateField& field : reduction.state)
                places = std::max(places, length_of(field));
    return places;
}

} // namespace

Plan with_segments(Plan plan, const Registers& registers) {
    const std::int64_t by_registers =
        registers_there / (plan.threads * registers_of_thread(plan, registers));
    const std::int64_t by_memory =
        shared_there / (plan.shared_bytes + shared_of_block);
    plan.resident = std::int32_t(std::clamp<std::int64_t>(
        std::min({by_registers, by_memory, threads_there / plan.threads}), 1,
        most_blocks_there));
    plan.state_columns = std::int32_t(
        columns_of_block + columns_of_slot * slots_of(registers.state) +
        columns_of_place * places_of_lists(registers));
    return plan;
}

std::int64_t segment_count(const Plan& plan, std::int64_t row_blocks,
                           std::int64_t tiles) {
    const std::int64_t at_once = multiprocessors * plan.resident;
    const auto cost = [&](std::int64_t count) {
        return ceil_div(row_blocks * count, at_once) *
               (ceil_div(tiles, count) * plan.tile_columns +
                plan.state_columns);
    };
    const std::int64_t most = std::clamp<std::int64_t>(tiles, 1, most_segments);
    std::int64_t least = cost(1);
    for (std::int64_t count = 2; count <= most; ++count)
        least = std::min(least, cost(count));
    // The smallest count that is hardly worse is taken: states need memory.
    constexpr double hardly = 1.02;
    std::int64_t count = 1;
    while (double(cost(count)) > hardly * double(least))
        ++count;
    return count;
}

} // namespace tilefold::cuda
