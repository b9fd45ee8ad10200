// runtime/cuda/row_tiles.h - chosen pairs as the kernels read them: the tasks
// of rows, and the intervals of columns that each meets.
#pragma once

#include "compiler/backends/cuda/image/call.h"
#include "runtime/schedule/ranges.h"

#include <span>
#include <vector>

namespace tilefold::cuda {

struct ChosenTiles {
    std::vector<RowTile> rows;
    std::vector<ColumnInterval> intervals;
};

/// The tiles of a list for each batch. Every row is in one tile: those that
/// meet nothing are in tiles without an interval. No tile has more than
/// `block_rows`.
ChosenTiles chosen_tiles(std::span<const TileList* const> lists,
                         std::int64_t rows, std::int64_t block_rows);

} // namespace tilefold::cuda
