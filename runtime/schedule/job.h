// runtime/schedule/job.h - one call of the runtime as numbers and pointers:
// what is to be computed, knowing nothing of formulas.
#pragma once

#include "runtime/core/extents.h"
#include "runtime/core/view.h"
#include "runtime/cpu/kernel.h"
#include "runtime/schedule/ranges.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <span>

namespace tilefold {

/// Which entries run, and what becomes of the rows.
enum class LoopKind : std::uint8_t {
    Reduce,   ///< a result for every row
    FoldRows, ///< rows are merged to one result
    Pairwise, ///< the pair term at (row k, column k)
    Dense,    ///< the pair term for rows × columns
};

/// Leading dimensions over which kernel calls are repeated, outermost first.
struct Batches {
    Extents extents;
    /// Bytes between batches: strides[dimension * operands + operand].
    boost::container::small_vector<std::int64_t, 16> strides;
    /// A parameter differs between batches: prepare() runs for each.
    bool moves_parameters = false;

    /// The binder sees to it that it is one, whatever is broadcast.
    std::int64_t count() const {
        std::int64_t product = 1;
        for (std::int64_t extent : extents)
            product *= extent;
        return product;
    }
};

/// The pairs that a reduction meets, as the kernel's rows and columns.
struct Chosen {
    const Ranges* ranges = nullptr;
    bool transposed = false;
    Extents extents; ///< of Batches
    Extents strides; ///< from list to list, by dimension of `extents`

    const TileList& list(std::int64_t batch) const {
        std::int64_t at = 0;
        for (std::size_t d = extents.size(); d-- > 0; batch /= extents[d])
            at += batch % extents[d] * strides[d];
        return ranges->list(std::size_t(at), transposed);
    }
};

/// The place where results go; its strides are in bytes.
struct Target {
    char* data = nullptr;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t component = 0;
    Extents batch; ///< one for each of Batches::extents
    bool accumulate = false;
};

/// States of rows in memory of the caller: for each batch, `slots` arrays of
/// `stride` elements, as kernel_abi.h has them.
struct RowStates {
    double* data = nullptr; ///< null: there are none
    std::int64_t stride = 0;
};

/// Everything pointed to outlives the run.
struct Job {
    const Kernel* kernel = nullptr;
    LoopKind loop = LoopKind::Reduce;
    std::span<const tilefold_kernel_operand> operands; ///< of batch 0
    const Batches* batches = nullptr;
    const Chosen* chosen = nullptr; ///< null: all pairs
    const double* literals = nullptr;
    const std::int64_t* row_index = nullptr;
    const std::int64_t* column_index = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t width = 1;
    const void* const* functions = nullptr;
    Target target;

    /// The rows and columns are a part of longer axes: the numbers of the
    /// first, from which operands are moved back, and how many the axes have
    /// (-1: no more than these).
    std::int64_t first_row = 0, first_column = 0;
    std::int64_t total_rows = -1, total_columns = -1;
    /// Points of which states are joined in an order of their own; 0: any. See
    /// partition.h.
    std::int64_t segment = 0;
    bool has_one_axis = false; ///< the rows, which are folded
    /// Where states go instead of results; where they come from instead of
    /// columns.
    RowStates left, given;

    std::int64_t rows_of_axis() const {
        return total_rows < 0 ? rows : total_rows;
    }
    std::int64_t columns_of_axis() const {
        return total_columns < 0 ? columns : total_columns;
    }
    /// Pairs of one batch.
    double pairs() const {
        return loop == LoopKind::Pairwise ? double(rows)
                                          : double(rows) * double(columns);
    }
    /// Estimated nanoseconds of one batch on one core.
    double nanoseconds() const {
        return pairs() * kernel->nanoseconds(width) + call_nanoseconds;
    }
    /// Calling a kernel's entries once, on the development machine.
    static constexpr double call_nanoseconds = 150;
    /// A piece is worth a thread's attention from here: handing one over costs
    /// 1 to 5 µs.
    static constexpr double piece_nanoseconds = 25e3;
    /// Pieces of rows that are folded, or of few rows: 8 threads finish within
    /// 1/8 of each other.
    static constexpr std::int64_t most_pieces = 64;
};

} // namespace tilefold
