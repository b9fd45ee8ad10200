// python_bindings/range_lists.h - chosen pairs as four lists of numbers.
#pragma once

#include "runtime/schedule/ranges.h"

#include <cstdint>
#include <memory>
#include <span>

namespace tilefold::python {

/// Lists of all batches, one after the other.
struct RangeLists {
    std::span<const std::int64_t> tiles;   ///< how many in each batch
    std::span<const std::int64_t> rows;    ///< two numbers a tile
    std::span<const std::int64_t> counts;  ///< of ranges in each tile
    std::span<const std::int64_t> columns; ///< two numbers a range
};

/// Throws Error(RangesInterval, RangesOverlap), and an InternalError where one
/// list does not hold what the one before it counts.
std::shared_ptr<const Ranges> ranges_of(Extents batch, const RangeLists& lists);

} // namespace tilefold::python
