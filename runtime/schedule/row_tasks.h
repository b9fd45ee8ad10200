// runtime/schedule/row_tasks.h - how a job over chosen pairs is cut into
// pieces.
//
//  1. A row task is some rows of one tile, at most a block, and the columns
//  that
//     the tile meets; tasks cover all rows, but where rows are folded only
//     those of tiles. Rows of no tile have no columns.
//  2. A piece is some tasks; a piece of folded rows has them from one batch.
//  3. The cut is a function of ranges, sizes and layout alone: any number of
//     threads gives the same bits.
#pragma once

#include "runtime/schedule/job.h"
#include "runtime/schedule/ranges.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

struct RowTask {
    std::int64_t batch = 0;
    Interval rows;
    std::span<const Interval> columns; ///< of the job's ranges

    double pairs() const;
};

struct RowTasks {
    std::vector<RowTask> all;
    std::vector<std::size_t> first; ///< task of a piece; one more at the end
    double pairs = 0;

    std::size_t pieces() const { return first.size() - 1; }
    std::span<const RowTask> piece(std::int64_t number) const {
        const auto k = std::size_t(number);
        return std::span(all).subspan(first[k], first[k + 1] - first[k]);
    }
};

/// `block`: most rows of a task. Where rows are folded, each of `batches`
/// has the same number of pieces, some of them empty.
RowTasks cut_row_tasks(const Job& job, std::int64_t batches,
                       std::int64_t block);

} // namespace tilefold
