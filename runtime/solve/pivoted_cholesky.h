// runtime/solve/pivoted_cholesky.h - a preconditioner from a few rows of a
// matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

/// (L Lᵀ + shift)⁻¹ for a matrix A + ridge, where L Lᵀ ≈ A.
class PivotedCholesky {
public:
    /// Takes the diagonal and at most `most_rank` rows of `size` elements.
    PivotedCholesky(std::int64_t size, const Elements& elements, double ridge,
                    Pivots pivots = Pivots::Largest);
    ~PivotedCholesky();

    /// 0: the matrix gave no positive pivot, and apply() may not be called.
    std::int64_t rank() const;
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
