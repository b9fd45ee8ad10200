// runtime/solve/solve.h - linear systems with a symmetric matrix that is known
// by its products only: preconditioned conjugate gradients and minimal
// residuals.
#pragma once

#include "runtime/solve/linear_system.h"

#include <cstdint>
#include <span>

namespace tilefold {

/// Solves (matrix + ridge) x = b for `columns` right-hand sides, b row-major.
/// The same bits for the same products. A column of zeros has the solution 0.
Solution solve(const LinearOperator& matrix, std::span<const double> b,
               std::int64_t columns, const SolveOptions& options);

} // namespace tilefold
