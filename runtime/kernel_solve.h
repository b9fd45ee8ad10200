// runtime/kernel_solve.h - linear systems whose matrix is a pair term.
#pragma once

#include "runtime/session.h"
#include "runtime/solve.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// (K + ridge) x = b, where K is the pair term of a kernel: checked, and
/// ready to be solved while the formulas and the arrays live.
class KernelSystem {
public:
    /// `product` is the formula of K · b and `pair` that of K, a matrix of
    /// `shape`. `arguments` are those of `product`; b among them, of shape
    /// (N,) or (N, E), is called `side`. Throws Error where they do not fit.
    KernelSystem(const Formula& product, const Formula& pair,
                 const Extents& shape, std::span<const NamedView> arguments,
                 std::string_view side);

    /// Of the solution: the shape of b, and the dtype of K · b where that is
    /// a float, else F64.
    const Extents& shape() const { return side_.view.shape; }
    DType dtype() const { return dtype_; }

    /// `poll` is told the pairs of all products, of the most there may be.
    Solution solve(const SolveOptions& options, const Poll& poll) const;
    /// Writes a solution to an array of shape() and dtype().
    void store(const Solution& solution, const Output& out) const;
    /// What a user is told of columns that did not converge; "" where all
    /// did.
    std::string warning(const Solution& solution,
                        const SolveOptions& options) const;

private:
    std::vector<double> side_values() const;

    Formula product_, pair_;
    std::vector<NamedView> arguments_; ///< of the pair term
    NamedView side_;
    DType dtype_ = DType::F64;
    DType working_ = DType::F64; ///< of products
    std::int64_t rows_ = 0, columns_ = 1;
};

} // namespace tilefold
