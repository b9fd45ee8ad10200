// runtime/solve/krylov.h - right-hand sides that are solved for together: what
// the methods of solve.h share.
#pragma once

#include "runtime/solve/linear_system.h"

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilefold::krylov {

using Block =
    Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Singles =
    Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Inner products by column; rows are added in their order.
Row dot(const Block& a, const Block& b);
/// Euclidean lengths by column.
Row lengths_of(const Block& block);

/// The columns of one solve: what is known of each, and which still go on.
class Columns {
public:
    Columns(const LinearOperator& matrix, std::span<const double> b,
            std::int64_t columns, const SolveOptions& options);

    Eigen::Index count() const { return b_.cols(); }
    bool is_active(Eigen::Index c) const { return active_[std::size_t(c)]; }
    bool any_active() const;
    void end(Eigen::Index column, SolveStatus outcome);
    /// Whether another product with directions is left to take.
    bool may_go_on() const { return any_active() && iterations_ < most_; }

    /// Factors the preconditioner that the options ask of `method`.
    void precondition(Method method);
    /// out = (matrix + ridge) in: an iteration. What float32 cuts off `in` is
    /// taken away from it.
    void multiply(Block& in, Block& out);
    /// out = (matrix + ridge) in, in double.
    void multiply_exactly(const Block& in, Block& out) const;
    /// M⁻¹ in; `in` itself without a preconditioner. Valid until the next.
    const Block& preconditioned(const Block& in);

    /// Begins iterations: the best iterate so far is this one.
    void begin();
    /// Moves x and the residual by a step of each column; ends those that
    /// converged, and keeps the best iterate of each.
    void step(const Block& direction, const Block& image, const Row& steps);
    /// Whether a preconditioner of more rows is likely to save more time than
    /// it takes: then iterations begin again with finish(), check() and grow().
    bool would_gain();
    /// Takes twice as many rows for the preconditioner.
    void grow();
    /// Ends iterations: columns that still go on without more to take are
    /// exhausted.
    void finish();
    /// Computes the residuals again; columns that have not converged after
    /// all go on where the last start still helped.
    void check();
    /// Lets columns that ended so go on; whether there are any.
    bool reopen(SolveStatus outcome);

    const Block& residual() const { return residual_; }
    bool quick() const { return bool(matrix_.quick_product); }
    Solution solution() const;

private:
    void start();
    void recompute_residual();
    void resume(Eigen::Index column, bool helped);
    /// Iterations until all columns have converged, as those since begin()
    /// tell; infinite where none has come nearer.
    double iterations_left() const;
    std::int64_t next_rank() const { return std::min(2 * rank_, largest_); }

    const LinearOperator& matrix_;
    const SolveOptions& options_;
    const std::int64_t most_;
    std::int64_t iterations_ = 0, rank_ = 0;
    std::int64_t largest_ = 0; ///< rank that the preconditioner may grow to
    std::int64_t began_ = 0;   ///< iterations before begin()
    bool grows_ = false;       ///< would_gain() has said so
    Block b_, x_, best_, residual_, image_, scaled_;
    Singles singles_in_, singles_out_;
    Row scale_; ///< of b
    Row norms_, reached_, best_lengths_, first_lengths_;
    std::vector<SolveStatus> outcomes_;
    std::vector<bool> active_;
    std::optional<PivotedCholesky> preconditioner_;
};

/// Iterates from the residual until every column has ended, it seems.
void descend_by_conjugate_gradients(Columns& columns);
/// The same for symmetric matrices that are not definite.
void descend_by_minimal_residuals(Columns& columns);

} // namespace tilefold::krylov
