// runtime/solve/linear_system.h - a linear system with a symmetric matrix that
// is known by its products only: what is asked, and what is found.
#pragma once

#include "runtime/solve/pivoted_cholesky.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tilefold {

/// What is asked of a matrix of `size` rows. Symmetry is checked where a solve
/// fails.
struct LinearOperator {
    std::int64_t size = 0;
    /// out = matrix · in; both row-major, `size` rows of the columns solved
    /// for. May throw, which ends the solve.
    std::function<void(const double* in, double* out)> product;
    /// The same in float32, for the iterations; unset: in double.
    std::function<void(const float* in, float* out)> quick_product = {};
    Elements elements; ///< for a preconditioner
};

enum class Preconditioner : std::uint8_t {
    Auto, ///< Cholesky from `auto_size` rows on where ridge > 0, else None
    None,
    Cholesky, ///< pivots of the largest remainder
    Nystrom,  ///< as many rows, spread over the points
};
inline constexpr std::int64_t auto_size = 500;

enum class Method : std::uint8_t {
    ConjugateGradients, ///< for positive definite matrices
    MinimalResiduals,   ///< MINRES: symmetric is enough; Auto is None
    Auto, ///< the first; where it meets an indefinite matrix, the second
};

/// A number for a message.
std::string spelled(double number, int digits = 6);

struct SolveOptions {
    double ridge = 0;   ///< added to the diagonal; at least 0 but for MINRES
    double rtol = 1e-6; ///< of |b - A x| / |b|; above 0
    /// The most iterations, at least 1; unset: min(10 · rows, 1000).
    std::optional<std::int64_t> maxiter = {};
    Preconditioner preconditioner = Preconditioner::Auto;
    /// Rows that it takes of the matrix, at least 1. Unset: usual_rank(), and
    /// of Cholesky more while conjugate gradients need them, up to
    /// largest_rank().
    std::optional<std::int64_t> rank = {};
    Method method = Method::ConjugateGradients;
};

/// How a column ended. Later ones are the worse to hear of.
enum class SolveStatus : std::uint8_t {
    Converged,
    Exhausted,  ///< maxiter
    Stagnated,  ///< rounding of the products hides what is left
    Indefinite, ///< a direction without positive curvature
    Asymmetric, ///< it ended as one of those above; is_symmetric() is false
    NotFinite,  ///< NaN or infinity in b, in a product, or by overflow
};

struct Solution {
    std::vector<double> x; ///< row-major, the best iterate of each column
    std::vector<double> residuals; ///< |b - A x| / |b|, by column, recomputed
    std::vector<SolveStatus> outcomes; ///< by column
    std::int64_t iterations = 0;       ///< products of search directions
    std::int64_t rank = 0;             ///< of the preconditioner; 0: none

    SolveStatus worst() const;
    double largest_residual() const; ///< NaN where one is
};

/// Throws Error(BadOption).
void check_options(const SolveOptions& options);
/// `options.maxiter`, or its default.
std::int64_t most_iterations(const SolveOptions& options, std::int64_t size);

} // namespace tilefold
