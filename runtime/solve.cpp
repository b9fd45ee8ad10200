// runtime/solve.cpp - see solve.h.
//
// Hestenes and Stiefel, Methods of conjugate gradients for solving linear
// systems, 1952.
//
// 1. Columns share the products and nothing else: each has its own steps, and
//    one that has ended has the direction 0.
// 2. Vectors are double. Where products take float32, a direction is rounded
//    to it before it is used, not only before it is multiplied.
// 3. Columns are scaled by powers of two, so that nothing depends on the
//    units of b.
// 4. A residual is believed when it is computed again from x, in double.
//    Where it is larger than it seemed, the column starts again from there,
//    as long as that halves it: iterative refinement, by which float32
//    products solve in double (Carson and Higham, 2018).
// 5. What is kept of a column is its iterate of the smallest residual: a
//    matrix that is nearly singular may throw the next one far away.

#include "runtime/solve.h"

#include "formulas/diagnostic.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace tilefold {
namespace {

using Block =
    Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Singles =
    Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Negative curvature within so many roundings of a product is noise.
constexpr double noise = 8 * std::numeric_limits<double>::epsilon();
/// The smallest cosine of p and A p where the condition of A is 1/epsilon, by
/// Kantorovich's inequality: below, A is singular to double precision.
const double smallest_cosine =
    2 * std::sqrt(std::numeric_limits<double>::epsilon());

/// By column; rows are added in their order.
Row dot(const Block& a, const Block& b) {
    Row sums = Row::Zero(a.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i)
        sums += a.row(i) * b.row(i);
    return sums;
}

/// By column, the power of two by which the largest element lies in [1, 2);
/// 1 where there is none.
Row powers(const Block& block) {
    Row scale = Row::Zero(block.cols());
    for (Eigen::Index i = 0; i < block.rows(); ++i)
        scale = scale.max(block.row(i).abs());
    for (double& value : scale)
        value = value > 0 && std::isfinite(value)
                    ? std::ldexp(1.0, -std::ilogb(value))
                    : 1.0;
    return scale;
}

class ConjugateGradients {
public:
    ConjugateGradients(const Products& matrix, std::span<const double> b,
                       std::int64_t columns, const SolveOptions& options)
        : matrix_(matrix), options_(options),
          most_(most_iterations(options, matrix.size)),
          b_(Eigen::Map<const Block>(b.data(), matrix.size, columns)),
          x_(Block::Zero(matrix.size, columns)),
          outcomes_(std::size_t(columns), Outcome::Converged),
          active_(std::size_t(columns), true) {}

    Solution run() {
        const Row scale = powers(b_);
        b_.rowwise() *= scale;
        start();
        if (any_active())
            precondition();
        while (any_active()) {
            descend();
            check();
        }
        x_.rowwise() /= scale;
        return solution();
    }

private:
    Eigen::Index columns() const { return b_.cols(); }
    bool any_active() const {
        return std::find(active_.begin(), active_.end(), true) != active_.end();
    }
    void end(Eigen::Index column, Outcome outcome) {
        outcomes_[std::size_t(column)] = outcome;
        active_[std::size_t(column)] = false;
    }

    void start() {
        residual_ = b_;
        norms_ = dot(b_, b_).sqrt();
        largest_ = Row::Zero(columns());
        reached_ = Row::Ones(columns());
        for (Eigen::Index c = 0; c < columns(); ++c) {
            if (!std::isfinite(norms_[c])) {
                x_.col(c).setConstant(NAN);
                residual_.col(c).setZero();
                reached_[c] = NAN;
                end(c, Outcome::NotFinite);
            } else if (norms_[c] == 0) {
                reached_[c] = 0;
                end(c, Outcome::Converged);
            }
        }
    }

    void precondition() {
        const bool wanted =
            options_.preconditioner == Preconditioner::Cholesky ||
            (options_.preconditioner == Preconditioner::Auto &&
             options_.ridge > 0 && matrix_.size >= auto_size);
        if (!wanted)
            return;
        preconditioner_.emplace(matrix_.size, matrix_.elements, options_.ridge);
        rank_ = preconditioner_->rank();
    }

    /// out = (matrix + ridge) in. What float32 cuts off `in` is taken away
    /// from it.
    void multiply(Block& in, Block& out) {
        out.resize(in.rows(), in.cols());
        if (!matrix_.quick_product) {
            matrix_.product(in.data(), out.data());
        } else {
            const Row scale = powers(in);
            singles_in_ = (in.rowwise() * scale).cast<float>();
            singles_out_.resize(in.rows(), in.cols());
            matrix_.quick_product(singles_in_.data(), singles_out_.data());
            in = singles_in_.cast<double>().rowwise() / scale;
            out = singles_out_.cast<double>().rowwise() / scale;
        }
        if (options_.ridge > 0)
            out += options_.ridge * in;
    }

    /// z = M⁻¹ r
    const Block& preconditioned() {
        if (rank_ == 0)
            return residual_;
        scaled_.resize(residual_.rows(), residual_.cols());
        const auto count = std::size_t(residual_.size());
        preconditioner_->apply({residual_.data(), count},
                               {scaled_.data(), count}, columns());
        return scaled_;
    }

    /// Iterates from the residual until every column has ended, it seems.
    void descend() {
        best_ = x_;
        best_lengths_ = dot(residual_, residual_).sqrt();
        direction_ = preconditioned();
        Row descent = dot(residual_, direction_);
        stop_columns();
        while (any_active() && iterations_ < most_) {
            multiply(direction_, image_);
            ++iterations_;
            const Row steps = steps_along(descent);
            x_ += direction_.rowwise() * steps;
            residual_ -= image_.rowwise() * steps;
            judge_residual();
            const Block& next = preconditioned();
            const Row again = dot(residual_, next);
            Row keep = again / descent;
            for (Eigen::Index c = 0; c < columns(); ++c)
                keep[c] = std::isfinite(keep[c]) ? keep[c] : 0;
            direction_ = next + direction_.rowwise() * keep;
            descent = again;
            stop_columns();
        }
        for (Eigen::Index c = 0; c < columns(); ++c)
            if (active_[std::size_t(c)])
                end(c, Outcome::Exhausted);
        x_ = best_;
    }

    /// Takes the direction from columns that have ended.
    void stop_columns() {
        for (Eigen::Index c = 0; c < columns(); ++c)
            if (!active_[std::size_t(c)])
                direction_.col(c).setZero();
    }

    /// How far each column goes; those that cannot end here.
    Row steps_along(const Row& descent) {
        const Row curvature = dot(direction_, image_);
        const Row length = dot(direction_, direction_).sqrt();
        const Row stretched = dot(image_, image_).sqrt();
        Row steps = Row::Zero(columns());
        for (Eigen::Index c = 0; c < columns(); ++c) {
            if (!active_[std::size_t(c)])
                continue;
            largest_[c] = std::max(largest_[c], stretched[c] / length[c]);
            if (!std::isfinite(curvature[c]) || !std::isfinite(descent[c]))
                end(c, Outcome::NotFinite);
            else if (curvature[c] < 0 && is_indefinite(c))
                end(c, Outcome::Indefinite);
            else if (curvature[c] <= smallest_cosine * length[c] * stretched[c])
                end(c, Outcome::Stagnated);
            else
                steps[c] = descent[c] / curvature[c];
        }
        return steps;
    }

    /// Whether the negative curvature is that of the matrix, and not of the
    /// roundings of its products.
    bool is_indefinite(Eigen::Index column) {
        if (matrix_.quick_product) {
            matrix_.product(direction_.data(), image_.data());
            image_ += options_.ridge * direction_;
        }
        const auto p = direction_.col(column).matrix();
        const double curvature = p.dot(image_.col(column).matrix());
        return curvature < -noise * largest_[column] * p.squaredNorm();
    }

    void judge_residual() {
        const Row lengths = dot(residual_, residual_).sqrt();
        for (Eigen::Index c = 0; c < columns(); ++c) {
            if (!active_[std::size_t(c)])
                continue;
            if (lengths[c] < best_lengths_[c]) {
                best_lengths_[c] = lengths[c];
                best_.col(c) = x_.col(c);
            }
            if (!std::isfinite(lengths[c]))
                end(c, Outcome::NotFinite);
            else if (lengths[c] <= options_.rtol * norms_[c])
                end(c, Outcome::Converged);
        }
    }

    /// Computes the residuals again; columns that have not converged after
    /// all go on where the last start still helped.
    void check() {
        recompute_residual();
        const Row lengths = dot(residual_, residual_).sqrt();
        for (Eigen::Index c = 0; c < columns(); ++c) {
            if (norms_[c] == 0 || !std::isfinite(norms_[c]))
                continue;
            const double before = reached_[c];
            reached_[c] = lengths[c] / norms_[c];
            const Outcome outcome = outcomes_[std::size_t(c)];
            if (!std::isfinite(reached_[c]))
                end(c, Outcome::NotFinite);
            else if (reached_[c] <= options_.rtol)
                end(c, Outcome::Converged);
            else if (outcome == Outcome::Converged ||
                     outcome == Outcome::Stagnated)
                resume(c, reached_[c] < 0.5 * before);
        }
    }

    void resume(Eigen::Index column, bool helped) {
        if (!helped)
            end(column, Outcome::Stagnated);
        else if (iterations_ >= most_)
            end(column, Outcome::Exhausted);
        else
            active_[std::size_t(column)] = true;
    }

    /// residual = b - A x
    void recompute_residual() {
        image_.resize(x_.rows(), x_.cols());
        matrix_.product(x_.data(), image_.data());
        residual_ = b_ - image_ - options_.ridge * x_;
    }

    Solution solution() const {
        Solution found;
        found.x.assign(x_.data(), x_.data() + x_.size());
        found.residuals.assign(reached_.data(), reached_.data() + columns());
        found.outcomes = outcomes_;
        found.iterations = iterations_;
        found.rank = rank_;
        return found;
    }

    const Products& matrix_;
    const SolveOptions& options_;
    const std::int64_t most_;
    std::int64_t iterations_ = 0, rank_ = 0;
    Block b_, x_, best_, residual_, direction_, image_, scaled_;
    Singles singles_in_, singles_out_;
    Row norms_, reached_, best_lengths_;
    Row largest_; ///< |A p| / |p| so far
    std::vector<Outcome> outcomes_;
    std::vector<bool> active_;
    std::optional<PivotedCholesky> preconditioner_;
};

std::string spelled(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

} // namespace

Outcome Solution::worst() const {
    return outcomes.empty()
               ? Outcome::Converged
               : *std::max_element(outcomes.begin(), outcomes.end());
}

double Solution::largest_residual() const {
    double largest = 0;
    for (const double residual : residuals)
        largest =
            std::isnan(largest) || residual <= largest ? largest : residual;
    return largest;
}

void check_options(const SolveOptions& options) {
    if (!(options.ridge >= 0) || !std::isfinite(options.ridge))
        fail(Code::BadOption,
             {"ridge", spelled(options.ridge), "pass a number, 0 or above"});
    if (!(options.rtol > 0))
        fail(Code::BadOption,
             {"rtol", spelled(options.rtol), "pass a number above 0"});
    if (options.maxiter && *options.maxiter < 1)
        fail(Code::BadOption, {"maxiter", std::to_string(*options.maxiter),
                               "pass a whole number, 1 or above"});
}

std::int64_t most_iterations(const SolveOptions& options, std::int64_t size) {
    constexpr std::int64_t per_row = 10, most = 1000;
    return options.maxiter.value_or(size < most / per_row ? per_row * size
                                                          : most);
}

Solution solve(const Products& matrix, std::span<const double> b,
               std::int64_t columns, const SolveOptions& options) {
    check_options(options);
    return ConjugateGradients(matrix, b, columns, options).run();
}

} // namespace tilefold
