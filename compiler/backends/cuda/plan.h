// compiler/backends/cuda/plan.h - how a graph becomes blocks of threads: plain
// data, printable.
//
// A block packs a tile of columns into shared memory; each of its threads
// holds a few rows in registers and meets all columns of the tile with them.
#pragma once

#include "compiler/ir.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold::cuda {

struct Plan {
    std::int32_t threads = 128;        ///< of a block
    std::int32_t rows_per_thread = 4;  ///< held in registers
    std::int32_t tile_columns = 128;   ///< in shared memory at a time
    std::int32_t columns_unrolled = 4; ///< iterations of the loop over them
    /// Components that a graph with an open width is compiled for; a call of
    /// another width runs as several parts. 1 for any other graph.
    std::int32_t width_block = 1;

    friend bool operator==(const Plan&, const Plan&) = default;
};

/// The widths that graphs of open width are compiled for, ascending.
inline constexpr std::int32_t width_blocks[] = {1, 8, 32};
/// The smallest of them that holds `width`, or the largest.
std::int32_t width_block_of(std::int64_t width);

/// The plan for the (oriented) graph, whose open width, if it has one, is cut
/// into blocks of `width_block`. Throws Error(CudaCannot) where no plan fits
/// shared memory.
Plan choose_plan(const ir::Graph& graph, std::int32_t width_block);

std::string print(const Plan& plan); ///< one line of key=value

} // namespace tilefold::cuda
