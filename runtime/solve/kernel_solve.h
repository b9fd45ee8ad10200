// runtime/solve/kernel_solve.h - linear systems whose matrix is a pair term.
#pragma once

#include "runtime/session/session.h"
#include "runtime/solve/log_determinant.h"
#include "runtime/solve/solve.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// What is computed of a kernel K to solve with it.
struct SystemFormulas {
    Formula product; ///< K · b
    Formula pair;    ///< K; of a complex kernel its real parts
    /// The imaginary parts of a complex kernel, which is Hermitian.
    std::optional<Formula> imaginary = {};
};

/// (K + ridge) x = b, where K is the pair term of a kernel: checked, and
/// ready to be solved while the formulas and the arrays live.
///
/// What is solved is real. A complex b of a real K is twice as many columns,
/// its real parts and then its imaginary ones. A Hermitian K of n rows is the
/// symmetric matrix ((Re K, -Im K), (Im K, Re K)) of 2n rows: it has every
/// eigenvalue of K twice, and so it is as definite as K.
class KernelSystem {
public:
    /// `shape` is that of K. `arguments` are those of the product; b among
    /// them, of shape (N,) or (N, E), is called `side`, and its imaginary
    /// parts, where it is complex, are that part of it. Throws Error
    /// where they do not fit. `goes_on` as of BindOptions, for what is computed
    /// later, too.
    KernelSystem(SystemFormulas formulas, const Extents& shape,
                 std::span<const NamedView> arguments, std::string_view side,
                 const GoesOn& goes_on = {});

    /// The solution has the shape of b, and the dtype of K · b where that is a
    /// float, else F64; its parts have it where it is complex.
    const Extents& shape() const { return side_.view.shape; }
    DType dtype() const { return dtype_; }
    bool is_complex() const { return is_hermitian() || imaginary_side_; }

    /// `poll` is told the pairs of all products, of the most there may be.
    /// Residuals and outcomes are those of b's columns.
    Solution solve(const SolveOptions& options, const Poll& poll) const;
    /// log det(K + ridge), and where that is factored, bᴴ (K + ridge)⁻¹ b of
    /// each column.
    LogDeterminant log_determinant(const LogdetOptions& options,
                                   const Poll& poll) const;
    /// Writes a solution to an array of shape() and dtype(), and its imaginary
    /// parts, where it has some, to another.
    void store(const Solution& solution, const Output& real,
               const Output& imaginary = {}) const;
    /// What a user is told of columns that did not converge; "" where all
    /// did.
    std::string warning(const Solution& solution,
                        const SolveOptions& options) const;

private:
    class Matrix;

    bool is_hermitian() const { return formulas_.imaginary.has_value(); }
    std::int64_t size() const; ///< rows of the real system
    std::int64_t real_columns() const;
    std::vector<double> side_values() const;
    void join_columns(Solution& solution) const;

    SystemFormulas formulas_;
    GoesOn goes_on_;
    std::vector<NamedView> arguments_; ///< of the pair term
    NamedView side_;
    std::optional<NamedView> imaginary_side_;
    DType dtype_ = DType::F64;
    DType working_ = DType::F64; ///< of products
    std::int64_t rows_ = 0, columns_ = 1;
};

/// What a user is told of a log determinant; "" where it is as it should be.
std::string warning_of(const LogDeterminant& found);

} // namespace tilefold
