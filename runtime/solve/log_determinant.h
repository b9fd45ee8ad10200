// runtime/solve/log_determinant.h - log det of a positive definite matrix: by
// Cholesky's method where it is small, else by stochastic Lanczos quadrature.
#pragma once

#include "runtime/solve/linear_system.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilefold {

/// Matrices of fewer rows are factored: the result is exact to rounding.
inline constexpr std::int64_t exact_size = 2000;

struct LogdetOptions {
    double ridge = 0;         ///< added to the diagonal; at least 0
    std::int64_t probes = 32; ///< random vectors; at least 2
    /// The most steps of Lanczos' method, each a product of all probes; unset:
    /// min(rows, 200).
    std::optional<std::int64_t> maxiter = {};
    /// Auto is Cholesky.
    Preconditioner preconditioner = Preconditioner::Auto;
    std::uint64_t seed = 0; ///< of the probes
};

struct LogDeterminant {
    double value = 0;
    /// Standard error of the mean of the probes, and of what the quadrature
    /// leaves; 0 where the matrix was factored.
    double error = 0;
    double moved = 0;        ///< what the quadrature leaves, of it
    std::int64_t steps = 0;  ///< 0 where the matrix was factored
    std::int64_t probes = 0; ///< 0 where the matrix was factored
    std::int64_t rank = 0;   ///< of the preconditioner; 0: none
    /// Converged; Exhausted: `moved` is large beside the error of the probes;
    /// Indefinite, Asymmetric, NotFinite: the value is NaN.
    SolveStatus outcome = SolveStatus::Converged;
    /// bᵀ A⁻¹ b of each column, where the matrix was factored and right-hand
    /// sides b were given.
    std::vector<double> quadratics = {};

    bool is_exact() const { return steps == 0; }
};

/// Throws Error(BadOption).
void check_options(const LogdetOptions& options);
/// `options.maxiter`, or its default.
std::int64_t most_steps(const LogdetOptions& options, std::int64_t size);

/// log det(matrix + ridge). `b`, row-major of `columns` columns, is read where
/// the matrix is factored. `between` is called now and then, and may throw.
/// Products take `options.probes` columns. The same bits for the same products
/// and the same seed.
LogDeterminant log_determinant(
    const LinearOperator& matrix, const LogdetOptions& options,
    std::span<const double> b = {}, std::int64_t columns = 0,
    const std::function<void()>& between = [] {});

} // namespace tilefold
