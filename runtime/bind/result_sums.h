// runtime/bind/result_sums.h - results of a kernel that are kept apart until
// they are summed, or added to an output.
#pragma once

#include "runtime/core/element.h"
#include "runtime/core/view.h"
#include "runtime/schedule/job.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilefold {

/// Memory of one run, which the next may have.
struct ResultSums {
    /// For results like `like`, whose data is not read, written by `target`,
    /// and their sums over the dimensions that are `summed`; those beyond its
    /// end are not.
    /// Throws OutOfMemory, which says `what` they are and the `cure`.
    ResultSums(const View& like, Target target, const std::vector<bool>& summed,
               const char* what, const char* cure);

    /// Makes `count` sums 0. Throws OutOfMemory.
    void reset(std::int64_t count, DType dtype);

    std::vector<std::byte> results; ///< in the order of C
    Target target;                  ///< these, as a kernel writes them
    Extents strides; ///< from sum to sum, for each dimension of the results
    ElementSums sums;
};

} // namespace tilefold
