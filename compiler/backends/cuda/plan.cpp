// compiler/backends/cuda/plan.cpp - registers and shared memory decide how
// many rows a thread holds and how many columns a tile has.

#include "compiler/backends/cuda/plan.h"

#include "compiler/backends/cuda/reduction.h"
#include "compiler/backends/cuda/refuse.h"
#include "compiler/build.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Of each thread, for rows, partials and states together. Four rows of 16
/// components fit, in 166 registers of sm_90: 36.4 instructions a pair. Eight
/// would take 35.9, but fill 255 registers and spill between tasks.
constexpr std::int64_t registers = 110;
constexpr std::int32_t most_rows = 8;
/// Pairs in the body of the innermost loop. Its own instructions are 3% of a
/// short pair's then; more of them take ptxas longer than they save.
constexpr std::int32_t pairs_unrolled = 16;
/// Words of a column from which on fewer are unrolled: they fill registers.
constexpr std::int64_t long_column = 32;
/// What every device has without asking for more.
constexpr std::int64_t shared_bytes = 48 * 1024;
/// A tile's: three blocks fit beside each other.
constexpr std::int64_t tile_bytes = 16 * 1024;

std::int64_t words_of(const Record& record) {
    return (record.bytes() + 3) / 4;
}

} // namespace

std::int32_t width_block_of(std::int64_t width) {
    for (std::int32_t block : width_blocks)
        if (width <= block)
            return block;
    return width_blocks[std::size(width_blocks) - 1];
}

Plan choose_plan(const ir::Graph& graph, std::int32_t width_block) {
    const Reduction reduction(of_width(graph, width_block));
    const Sites& sites = reduction.sites;
    Plan plan;
    plan.width_block = open_argument(graph) < 0 ? 1 : width_block;
    const std::int64_t row = words_of(sites.row.record) +
                             words_of(reduction.partial) +
                             words_of(reduction.state);
    plan.rows_per_thread = most_rows;
    while (plan.rows_per_thread > 1 && row * plan.rows_per_thread > registers)
        plan.rows_per_thread /= 2;
    const std::int64_t column = (sites.column.record.bytes() + 15) / 16 * 16;
    while (plan.tile_columns > 1 && column * plan.tile_columns > tile_bytes)
        plan.tile_columns /= 2;
    if (column > shared_bytes)
        refuse("columns of " + std::to_string(column) +
                   " bytes, more than shared memory holds",
               "shorten the vectors of the reduced axis to " +
                   std::to_string(shared_bytes / 4) + " float32 components");
    plan.columns_unrolled =
        words_of(sites.column.record) > long_column
            ? 2
            : std::min(pairs_unrolled / plan.rows_per_thread, 8);
    return plan;
}

std::string print(const Plan& plan) {
    const auto entry = [](const char* key, std::int32_t value) {
        return std::string(key) + "=" + std::to_string(value);
    };
    return entry("threads", plan.threads) + " " +
           entry("rows_per_thread", plan.rows_per_thread) + " " +
           entry("tile_columns", plan.tile_columns) + " " +
           entry("columns_unrolled", plan.columns_unrolled) + " " +
           entry("width_block", plan.width_block);
}

} // namespace tilefold::cuda
