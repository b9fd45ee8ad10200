// runtime/schedule/partition.h - how a job is cut into pieces.
//
// What holds of every partition:
//  1. It is a function of sizes and of the kernel's layout alone. Threads
//     never enter: any number of threads gives the same bits.
//  2. Pieces of one group hold partial states of the same rows; they are
//     merged in the order of their numbers by a balanced tree. Groups are
//     independent.
//  3. Columns are cut at multiples of the layout's panel.
//  4. The partial states of one wave of groups fit `most_state` bytes.
//
// Where the job has a segment, the order of merges is that of a balanced tree
// over the segments of the reduced axis, which the last may fill in part: a
// function of the axis alone, so that a part of it that is a node of the tree
// has one state, whoever computes it. Rows that are folded are merged block by
// block, and blocks are those of the whole axis.
#pragma once

#include "runtime/schedule/job.h"
#include "runtime/schedule/row_tasks.h"

#include <cstdint>
#include <optional>

namespace tilefold {

/// Rows [i0, i1) and columns [j0, j1) of a batch.
struct WorkItem {
    std::int64_t batch = 0;
    std::int64_t i0 = 0, i1 = 0;
    std::int64_t j0 = 0, j1 = 0;
};

struct Partition {
    static constexpr std::int64_t most_state = std::int64_t(16) << 20;

    std::int64_t rows = 0, columns = 0;
    std::int64_t batches = 1;
    std::int64_t block = 0; ///< rows of a state; its stride
    /// Rows before this are in whole blocks; the rest is a piece of its own:
    /// accumulate() may leave garbage in a state beyond its last row.
    std::int64_t whole_rows = 0;
    std::int64_t row_span = 1;    ///< rows of a piece: whole blocks
    std::int64_t row_pieces = 1;  ///< in a batch
    std::int64_t column_span = 1; ///< columns of a piece: whole panels
    std::int64_t column_pieces = 1;
    std::int64_t parts = 1;        ///< pieces of a group
    std::int64_t wave = 1;         ///< groups whose states are alive at once
    std::int64_t call_columns = 1; ///< columns of one accumulate() call
    /// Columns of a piece of which the states are joined by a tree; 0: none.
    std::int64_t leaf_columns = 0;
    /// These are the pieces instead where pairs are chosen.
    std::optional<RowTasks> row_tasks;

    /// States that a piece's tree holds beside its own.
    std::int64_t tree_states() const;
    std::int64_t pieces() const { return batches * row_pieces * column_pieces; }
    std::int64_t groups() const { return pieces() / parts; }
    /// Pieces are numbered group by group; columns vary fastest.
    WorkItem piece(std::int64_t number) const;
};

/// Pairs of all batches.
double pairs_of(const Job& job, const Partition& partition);
/// Estimated nanoseconds of the whole job on one core.
double nanoseconds_of(const Job& job, const Partition& partition);

Partition partition_of(const Job& job);

} // namespace tilefold
