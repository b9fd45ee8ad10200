// runtime/solve/symmetry.h - whether a matrix that is known by its products is
// symmetric.
#pragma once

#include "runtime/solve/linear_system.h"

#include <cstdint>

namespace tilefold {

/// Whether v·(A w) and w·(A v) are the same number of random vectors, as far as
/// roundings tell; they are not where A is not symmetric. True where they are
/// not finite. Takes a product of `columns` columns, of one column two; throws
/// what a product throws.
bool is_symmetric(const LinearOperator& matrix, std::int64_t columns);

} // namespace tilefold
