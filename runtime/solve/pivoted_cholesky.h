// runtime/solve/pivoted_cholesky.h - a preconditioner from a few rows of a
// matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace tilefold {

/// The diagonal of a symmetric matrix, and any of its rows.
struct Elements {
    std::function<void(std::span<double> out)> diagonal;
    std::function<void(std::int64_t row, std::span<double> out)> row;
    double epsilon = 0; ///< relative error of an element
};

/// Which rows are taken of a matrix.
enum class Pivots : std::uint8_t {
    Largest, ///< one after the other, where most is left of the diagonal
    Spread,  ///< evenly over the rows: Nyström's approximation
};

/// Rows that pay for themselves in most systems: 100 of them, fewer of small
/// matrices and of those whose factors would take 256 MiB.
std::int64_t usual_rank(std::int64_t size);
/// Rows beyond which factors cost more than they save: 16 √size, within the
/// same memory.
std::int64_t largest_rank(std::int64_t size);

/// (L Lᵀ + shift)⁻¹ for a matrix A + ridge, where L Lᵀ ≈ A.
class PivotedCholesky {
public:
    /// Takes the diagonal and at most `most` rows of `size` elements: fewer
    /// where they leave next to nothing of the matrix. Unset: usual_rank().
    PivotedCholesky(std::int64_t size, const Elements& elements, double ridge,
                    Pivots pivots = Pivots::Largest,
                    std::optional<std::int64_t> most = {});
    ~PivotedCholesky();

    /// 0: the matrix gave no positive pivot, and apply() may not be called.
    std::int64_t rank() const;
    /// Takes more rows, `most` in all; those it has keep their places. Of the
    /// Largest only.
    void grow(std::int64_t most);
    /// Whether rows that are worth it are left, as far as the last half of
    /// those taken tells: by which factor the trace of what is left shrinks
    /// where they become twice as many, above 0; 1 where none are left.
    double promise() const;
    /// out = (L Lᵀ + shift)⁻¹ in; both row-major, `size` rows of `columns`.
    void apply(std::span<const double> in, std::span<double> out,
               std::int64_t columns) const;
    /// values = √shift values + L inner: of independent numbers, `size` and
    /// rank() rows of them, vectors with the covariance L Lᵀ + shift.
    void colour(std::span<const double> inner, std::span<double> values,
                std::int64_t columns) const;
    double shift() const;
    double log_determinant() const; ///< of L Lᵀ + shift

private:
    struct Factors;
    std::unique_ptr<Factors> factors_;
};

} // namespace tilefold
