// runtime/bind/state_layout.h - the shape of what a reduction keeps of part of
// an axis, and what it is of.
#pragma once

#include "runtime/core/view.h"

#include <cstdint>
#include <string>

namespace tilefold {

/// States of a call's rows: for each batch, `slots` arrays of `stride` elements
/// of 8 bytes, of which the first `rows` mean something.
struct StateLayout {
    std::int64_t batches = 1, slots = 0, rows = 0, stride = 0;
    Axes reduced = Axes::J; ///< the axis of which states hold parts
    Axes kept = Axes::I;    ///< the axis of the rows; none where they are one
    bool folds = false;     ///< rows are joined once they are complete
    /// Points of either axis: the number of the first, how many are here, and
    /// how many there are.
    std::int64_t first = 0, count = 0, total = 0;
    std::int64_t first_row = 0, total_rows = 0;
    std::int64_t segment = 0;
    /// What states must have in common to be merged, beside the formula.
    std::string kind;

    std::int64_t elements() const { return batches * slots * stride; }
};

} // namespace tilefold
