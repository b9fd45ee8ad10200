// runtime/schedule/ranges.h - block sparsity: the pairs of points that a
// reduction meets, as tiles of rows and the ranges of columns that each meets.
#pragma once

#include "runtime/core/view.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tilefold {

/// Points [first, last).
struct Interval {
    std::int64_t first = 0, last = 0;

    std::int64_t size() const { return last - first; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

/// The chosen pairs of one batch. Rows of no tile meet nothing.
struct TileList {
    std::vector<Interval> rows; ///< by tile: ascending, apart
    std::vector<std::size_t>
        first;                     ///< of a tile's columns; one more at the end
    std::vector<Interval> columns; ///< of one tile: ascending, apart

    std::span<const Interval> columns_of(std::size_t tile) const {
        return std::span(columns).subspan(first[tile],
                                          first[tile + 1] - first[tile]);
    }
    double pairs() const;
};

/// The chosen pairs of every batch, read from either axis. Immutable.
class Ranges {
public:
    /// A list for each batch of `batch` (which broadcasts as the arrays' do),
    /// in the order of C; rows are on i, columns on j. Throws
    /// Error(RangesInterval, RangesOverlap).
    Ranges(Extents batch, std::vector<TileList> lists);

    const Extents& batch() const { return batch_; }
    /// `transposed`: rows are on j. Those lists are made when they are first
    /// asked for; throws Error(RangesPieces) where they would be too long.
    const TileList& list(std::size_t batch, bool transposed) const {
        return (transposed ? by_columns() : by_rows_)[batch];
    }
    double pairs() const; ///< of all batches
    /// The same with i and j exchanged. Throws Error(RangesPieces).
    Ranges transposed() const;
    /// Those between points of a part of either axis, by its own numbers.
    Ranges part(Interval i, Interval j) const;
    /// Throws Error(RangesOverrun) where an axis has fewer points.
    void check_lengths(std::int64_t i, std::int64_t j) const;

private:
    struct Columns {
        std::once_flag made;
        std::vector<TileList> lists;
    };

    Ranges() = default;
    const std::vector<TileList>& by_columns() const;

    Extents batch_;
    std::vector<TileList> by_rows_;
    std::int64_t rows_ = 0, columns_ = 0; ///< points there must be
    std::shared_ptr<Columns> by_columns_ = std::make_shared<Columns>();
};

} // namespace tilefold
