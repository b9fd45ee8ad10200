// compiler/backends/cuda/plan/plan_rows.cpp - registers and shared memory
// decide how many rows a thread holds and how many columns a tile has.

#include "compiler/backends/cuda/plan/plan_rows.h"

#include "compiler/backends/cuda/plan/plan_memory.h"
#include "compiler/backends/cuda/text/instructions.h"
#include "compiler/backends/cuda/text/refuse.h"
#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Each thread has at most so many registers for rows, partials and states
/// together. Eight rows of 16 components fit, in 245 registers of sm_90: 35.9
/// instructions a pair; four would take 36.8.
constexpr std::int64_t most_registers = 160;
/// The states of lists are elsewhere: two rows of 50 components fit. More rows
/// would have more of the code that puts a value into a list.
constexpr std::int64_t most_registers_of_lists = 148;
constexpr std::int32_t most_rows_of_lists = 2;
constexpr std::int32_t most_rows = 8;
/// A thread has at most so many rows where pairs are chosen: tiles of a few
/// hundred rows are common.
constexpr std::int32_t most_chosen_rows = 2;
/// Pairs in the body of the innermost loop, where there are fewer rows: its own
/// instructions are 3% of a short pair's then. With most rows they are 5% of
/// those of one column, which compiles in 10 ms less than two do.
constexpr std::int32_t pairs_unrolled = 16;
/// So many pairs are in that body for columns of more than `short_column`
/// words, whose pairs take long enough to compile anyhow.
constexpr std::int32_t more_pairs_unrolled = 24;
constexpr std::int64_t short_column = 12;
/// From so many words of a column on, fewer columns are unrolled: they fill
/// registers.
constexpr std::int64_t long_column = 32;
/// A thread takes so many points, and columns, before their sum goes on in
/// double.
constexpr std::int32_t points_of_thread = 16, columns_of_thread = 8;
/// Several rows or columns are loaded at a time where one takes at most so
/// many instructions, and words.
constexpr double most_ahead = 16;
constexpr std::int64_t most_words_ahead = 4, most_words_held = 64;
/// The rows of a block where nothing is reduced, the bytes of shared memory
/// that they may take, and the registers of the columns of its threads.
constexpr std::int32_t rows_of_values = 32;
constexpr std::int64_t bytes_of_value_rows = 16 * 1024;
constexpr std::int64_t registers_of_values = 40;
/// A tile takes so many bytes, since three blocks fit beside each other; twice
/// as many where each tile's lists are taken over into the rows'.
constexpr std::int64_t tile_bytes = 16 * 1024, tile_bytes_of_lists = 32 * 1024;

/// The pair term as it stands: rows are loaded once a block, and are in shared
/// memory where one fits.
Plan plan_of_values(const Registers& registers) {
    Plan plan;
    plan.rows_per_thread = rows_of_values;
    const std::int64_t row = (registers.row.record.bytes() / 16 + 1) * 16;
    while (plan.rows_per_thread > 1 &&
           row * plan.rows_per_thread > bytes_of_value_rows)
        plan.rows_per_thread /= 2;
    const std::int64_t bytes = row * plan.rows_per_thread;
    plan.shared_bytes = bytes <= common_shared ? std::int32_t(bytes) : 0;
    const auto most =
        registers_of_values /
        std::max<std::int64_t>(words_of(registers.column.record), 1);
    plan.columns_unrolled = std::int32_t(std::clamp<std::int64_t>(most, 1, 4));
    return plan;
}

/// Returns how many points are loaded before the first of them is met: `most`
/// where that takes few registers and little computing.
std::int32_t loaded_ahead(const ir::Graph& graph, Axes axis,
                          const Record& record, std::int32_t most) {
    double computed = 0;
    for (const ir::Node& node : graph.nodes)
        if (node.type.axes == axis)
            computed += instructions_of(node.op).single *
                        double(components_of(node.type));
    return words_of(record) <= most_words_ahead && computed <= most_ahead ? most
                                                                          : 1;
}

/// Returns how many columns are unrolled. The code that puts a value into a
/// list is long, and run by a few lanes here and there: more than one of a row
/// do not fit a multiprocessor's instruction cache, which is five times slower
/// (ten places, on an H200).
std::int32_t columns_unrolled(std::int32_t rows, const Registers& registers) {
    const std::int64_t words = words_of(registers.column.record);
    if (has_lists(registers))
        return 1;
    if (words > long_column)
        return 2;
    if (words > short_column)
        return std::min(more_pairs_unrolled / rows, 8);
    return rows == most_rows ? 1 : std::min(pairs_unrolled / rows, 8);
}

} // namespace

Plan plan_of_rows(const ir::Graph& graph, std::int32_t width_block) {
    const Registers registers =
        place_registers(of_width(graph, width_block), {});
    if (registers.reductions.empty())
        return plan_of_values(registers);
    Plan plan;
    plan.width_block = open_argument(graph) < 0 ? 1 : width_block;
    const std::int64_t row = words_of_loop(registers);
    const bool chooses = chooses_pairs(graph);
    plan.threads = chooses ? 128 : 64;
    const bool is_list = has_lists(registers);
    plan.rows_per_thread = chooses   ? most_chosen_rows
                           : is_list ? most_rows_of_lists
                                     : most_rows;
    while (plan.rows_per_thread > 1 &&
           row * plan.rows_per_thread >
               (is_list ? most_registers_of_lists : most_registers))
        plan.rows_per_thread /= 2;
    const std::int64_t column =
        (registers.column.record.bytes() + 15) / 16 * 16;
    while (plan.tile_columns > 1 &&
           column * plan.tile_columns >
               (is_list ? tile_bytes_of_lists : tile_bytes))
        plan.tile_columns /= 2;
    plan.shared_bytes = std::int32_t(
        std::min(bytes_of_columns(plan, registers) + bytes_of_task(registers) +
                     bytes_of_states(registers, warps_folded(plan, registers)),
                 most_shared + 1));
    if (plan.shared_bytes > most_shared)
        refuse("columns of " + std::to_string(column) +
                   " bytes, more than shared memory holds",
               "shorten the vectors of the reduced axis to " +
                   std::to_string((most_shared - 1024) / 4) +
                   " float32 components");
    plan.columns_unrolled = columns_unrolled(plan.rows_per_thread, registers);
    return plan;
}

std::optional<Plan> plan_of_columns(const ir::Graph& graph,
                                    std::int32_t width_block) {
    const Registers registers =
        place_registers(of_width(graph, width_block), {});
    const std::int64_t words = words_of(registers.column.record);
    if (words > most_words_held)
        return std::nullopt;
    Plan plan;
    plan.lanes = Lanes::Columns;
    plan.width_block = open_argument(graph) < 0 ? 1 : width_block;
    plan.tile_columns = plan.threads * columns_of_thread;
    const std::int64_t row = words_of_row(registers);
    plan.rows_per_thread = most_rows;
    const auto bytes = [&] {
        return bytes_of_task(registers) +
               bytes_of_states(registers,
                               plan.threads / 32 * plan.rows_per_thread);
    };
    while (plan.rows_per_thread > 1 &&
           (row * plan.rows_per_thread > most_registers ||
            bytes() > common_shared))
        plan.rows_per_thread /= 2;
    plan.columns_unrolled =
        loaded_ahead(registers.graph, Axes::J, registers.column.record,
                     plan.rows_per_thread == 1 ? 4 : 2);
    plan.shared_bytes = std::int32_t(bytes());
    return plan;
}

Plan plan_of_points(const ir::Graph& graph, std::int32_t width_block) {
    const Registers registers =
        place_registers(of_width(graph, width_block), {});
    Plan plan;
    plan.lanes = Lanes::Points;
    plan.threads = 256;
    plan.tile_columns = plan.threads * points_of_thread;
    plan.rows_per_thread = 1;
    plan.columns_unrolled =
        loaded_ahead(registers.graph, Axes::I, registers.row.record, 4);
    plan.shared_bytes =
        std::int32_t(bytes_of_task(registers) +
                     bytes_of_states(registers, plan.threads / 32));
    return plan;
}

} // namespace tilefold::cuda
