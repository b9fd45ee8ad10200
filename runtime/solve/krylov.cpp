// runtime/solve/krylov.cpp - see krylov.h.
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
// 6. How many rows a preconditioner needs is seen by how the iterations go.
//    Twice as many are taken where that is less work than the iterations that
//    are saved: these go with the root of the condition number, which goes
//    with the trace of what the rows leave of the matrix. They are taken, too,
//    where there may not be as many iterations as are needed. Work is counted,
//    not timed, so that the same bits come every time.

#include "runtime/solve/krylov.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilefold::krylov {
namespace {

/// Iterations between looks at how they go.
constexpr std::int64_t patience = 30;
/// Where the trace shrinks by less, more rows hardly help: the spectrum is
/// flat.
constexpr double flat = 0.8;
/// Time of a multiplication by an element of a factor that comes from memory,
/// beside that of a pair of points, half a nanosecond.
constexpr double per_element = 1.5;
/// The part of a pair's time that another column takes.
constexpr double per_column = 0.125;

/// The power of two by which the largest element of a column lies in [1, 2),
/// for each; 1 where there is none.
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

} // namespace

Row dot(const Block& a, const Block& b) {
    Row sums = Row::Zero(a.cols());
    for (Eigen::Index i = 0; i < a.rows(); ++i)
        sums += a.row(i) * b.row(i);
    return sums;
}

Row lengths_of(const Block& block) {
    return dot(block, block).sqrt();
}

Columns::Columns(const LinearOperator& matrix, std::span<const double> b,
                 std::int64_t columns, const SolveOptions& options)
    : matrix_(matrix), options_(options),
      most_(most_iterations(options, matrix.size)),
      b_(Eigen::Map<const Block>(b.data(), matrix.size, columns)),
      x_(Block::Zero(matrix.size, columns)), scale_(powers(b_)),
      outcomes_(std::size_t(columns), SolveStatus::Converged),
      active_(std::size_t(columns), true) {
    b_.rowwise() *= scale_;
    start();
}

bool Columns::any_active() const {
    return std::find(active_.begin(), active_.end(), true) != active_.end();
}

void Columns::end(Eigen::Index column, SolveStatus outcome) {
    outcomes_[std::size_t(column)] = outcome;
    active_[std::size_t(column)] = false;
}

void Columns::start() {
    residual_ = b_;
    norms_ = lengths_of(b_);
    reached_ = Row::Ones(count());
    for (Eigen::Index c = 0; c < count(); ++c) {
        if (!std::isfinite(norms_[c])) {
            x_.col(c).setConstant(NAN);
            residual_.col(c).setZero();
            reached_[c] = NAN;
            end(c, SolveStatus::NotFinite);
        } else if (norms_[c] == 0) {
            reached_[c] = 0;
            end(c, SolveStatus::Converged);
        }
    }
}

void Columns::precondition(Method method) {
    const Preconditioner wanted = options_.preconditioner;
    preconditioner_.reset();
    rank_ = largest_ = 0;
    if (wanted == Preconditioner::None || !any_active())
        return;
    const bool helps = method != Method::MinimalResiduals &&
                       options_.ridge > 0 && matrix_.size >= auto_size;
    if (wanted == Preconditioner::Auto && !helps)
        return;
    preconditioner_.emplace(matrix_.size, matrix_.elements, options_.ridge,
                            wanted == Preconditioner::Nystrom ? Pivots::Spread
                                                              : Pivots::Largest,
                            options_.rank);
    rank_ = preconditioner_->rank();
    if (!options_.rank && method == Method::ConjugateGradients)
        largest_ = largest_rank(matrix_.size);
}

double Columns::iterations_left() const {
    double left = 0;
    for (Eigen::Index c = 0; c < count(); ++c) {
        if (!is_active(c))
            continue;
        const double gone = std::log(first_lengths_[c] / best_lengths_[c]);
        const double ahead =
            std::log(best_lengths_[c] / (options_.rtol * norms_[c]));
        left = std::max(left, double(iterations_ - began_) * ahead / gone);
    }
    return left;
}

bool Columns::would_gain() {
    if (next_rank() <= rank_ || (iterations_ - began_) % patience != 0 ||
        iterations_ == began_ || !any_active())
        return false;
    const double shrinks = preconditioner_->promise();
    if (shrinks > flat)
        return false;
    const auto size = double(matrix_.size), now = double(rank_),
               then = double(next_rank()), columns = double(count());
    const auto iteration = [&](double rank) {
        return size * size * (1 + per_column * columns) +
               2 * per_element * size * rank;
    };
    const double left = iterations_left(),
                 needed = left * std::pow(shrinks, std::log2(then / now) / 2);
    const double factors = per_element * size * (then * then - now * now) / 2 +
                           size * (then - now);
    grows_ = left > double(most_ - iterations_) ||
             left * iteration(now) > factors + needed * iteration(then);
    return grows_;
}

void Columns::grow() {
    if (!std::exchange(grows_, false) || !any_active())
        return;
    preconditioner_->grow(next_rank());
    rank_ = preconditioner_->rank();
}

void Columns::multiply(Block& in, Block& out) {
    ++iterations_;
    if (!quick()) {
        multiply_exactly(in, out);
        return;
    }
    out.resize(in.rows(), in.cols());
    const Row scale = powers(in);
    singles_in_ = (in.rowwise() * scale).cast<float>();
    singles_out_.resize(in.rows(), in.cols());
    matrix_.quick_product(singles_in_.data(), singles_out_.data());
    in = singles_in_.cast<double>().rowwise() / scale;
    out = singles_out_.cast<double>().rowwise() / scale;
    if (options_.ridge != 0)
        out += options_.ridge * in;
}

void Columns::multiply_exactly(const Block& in, Block& out) const {
    out.resize(in.rows(), in.cols());
    matrix_.product(in.data(), out.data());
    if (options_.ridge != 0)
        out += options_.ridge * in;
}

const Block& Columns::preconditioned(const Block& in) {
    if (rank_ == 0)
        return in;
    scaled_.resize(in.rows(), in.cols());
    const auto size = std::size_t(in.size());
    preconditioner_->apply({in.data(), size}, {scaled_.data(), size}, count());
    return scaled_;
}

void Columns::begin() {
    best_ = x_;
    best_lengths_ = first_lengths_ = lengths_of(residual_);
    began_ = iterations_;
}

void Columns::step(const Block& direction, const Block& image,
                   const Row& steps) {
    x_ += direction.rowwise() * steps;
    residual_ -= image.rowwise() * steps;
    const Row lengths = lengths_of(residual_);
    for (Eigen::Index c = 0; c < count(); ++c) {
        if (!is_active(c))
            continue;
        if (lengths[c] < best_lengths_[c]) {
            best_lengths_[c] = lengths[c];
            best_.col(c) = x_.col(c);
        }
        if (!std::isfinite(lengths[c]))
            end(c, SolveStatus::NotFinite);
        else if (lengths[c] <= options_.rtol * norms_[c])
            end(c, SolveStatus::Converged);
    }
}

void Columns::finish() {
    for (Eigen::Index c = 0; c < count(); ++c)
        if (is_active(c) && !grows_)
            end(c, SolveStatus::Exhausted);
    x_ = best_;
}

void Columns::check() {
    recompute_residual();
    const Row lengths = lengths_of(residual_);
    for (Eigen::Index c = 0; c < count(); ++c) {
        if (norms_[c] == 0 || !std::isfinite(norms_[c]))
            continue;
        const double before = reached_[c];
        reached_[c] = lengths[c] / norms_[c];
        const SolveStatus outcome = outcomes_[std::size_t(c)];
        if (!std::isfinite(reached_[c]))
            end(c, SolveStatus::NotFinite);
        else if (reached_[c] <= options_.rtol)
            end(c, SolveStatus::Converged);
        else if (is_active(c))
            continue; // with another preconditioner
        else if (outcome == SolveStatus::Converged ||
                 outcome == SolveStatus::Stagnated)
            resume(c, reached_[c] < 0.5 * before);
    }
}

void Columns::resume(Eigen::Index column, bool helped) {
    if (!helped)
        end(column, SolveStatus::Stagnated);
    else if (iterations_ >= most_)
        end(column, SolveStatus::Exhausted);
    else
        active_[std::size_t(column)] = true;
}

bool Columns::reopen(SolveStatus outcome) {
    for (std::size_t c = 0; c < active_.size(); ++c)
        active_[c] = outcomes_[c] == outcome && iterations_ < most_;
    return any_active();
}

void Columns::recompute_residual() {
    multiply_exactly(x_, image_);
    residual_ = b_ - image_;
}

Solution Columns::solution() const {
    const Block x = x_.rowwise() / scale_;
    Solution found;
    found.x.assign(x.data(), x.data() + x.size());
    found.residuals.assign(reached_.data(), reached_.data() + count());
    found.outcomes = outcomes_;
    found.iterations = iterations_;
    found.rank = rank_;
    return found;
}

} // namespace tilefold::krylov
