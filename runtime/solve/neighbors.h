// runtime/solve/neighbors.h - the pairs of which a pair term is small, as a
// list.
#pragma once

#include "runtime/session/session.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

/// What was found of consecutive rows.
struct RowsWithin {
    std::vector<std::int64_t> counts; ///< by row
    std::vector<std::int64_t> columns;
    std::vector<double> values; ///< empty unless asked for
};

/// Pairs (i, j) by ascending i, then j.
struct PairsWithin {
    std::vector<RowsWithin> blocks;
    DType dtype = DType::F64; ///< of the pair term

    std::int64_t rows() const;
    std::int64_t size() const; ///< pairs
    /// Writes where each row begins among all pairs: rows() + 1 numbers.
    void write_starts(std::span<std::int64_t> out) const;
    /// The columns, and the values where they were asked for to an array of
    /// `dtype`; blocks are freed as they are written.
    void take(std::span<std::int64_t> columns, void* values);
};

/// All pairs whose value is at most `radius`; NaN is not. `pair` gives one
/// number for each pair, without batches, and is a distance: where it is of one
/// array on i, and of one like it or itself on j, a few points of i tell.
/// Beside the result, each thread keeps the values of some 10⁵ pairs. Throws
/// Error(NeighborsShape, NeighborsNoDistance), and what binding and running
/// throws; `goes_on` as of BindOptions.
PairsWithin pairs_within(const Formula& pair,
                         std::span<const NamedView> arguments, double radius,
                         bool with_values, const Poll& poll = {},
                         const GoesOn& goes_on = {});

} // namespace tilefold
