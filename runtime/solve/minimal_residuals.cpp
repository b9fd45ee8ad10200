// runtime/solve/minimal_residuals.cpp - for symmetric matrices, definite or
// not: Paige and Saunders, Solution of sparse indefinite systems of linear
// equations, 1975.
//
// 1. The names are those of the paper: Lanczos' vectors v with coefficients
//    alpha and beta, rotations (cosine, sine) that make the tridiagonal matrix
//    triangular, and directions w, along which the residual only shrinks.
// 2. |A r| / (|A| |r|) is known of the residual r. Where it is 0, no x has a
//    smaller residual: b is not in the range of a singular matrix.
// 3. Beside each w its image A w is carried, so that the residual is that of x
//    and of the very products taken, and not an estimate of its length.

#include "runtime/solve/krylov.h"

#include <cmath>
#include <limits>
#include <utility>

namespace tilefold::krylov {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A quotient where the column goes on, else 0.
double part(double a, double b) {
    return b > 0 ? a / b : 0;
}

/// The numbers of one column between two iterations.
struct Rotation {
    double beta = 0, beta_before = 0;
    double cosine = -1, sine = 0;
    double delta_bar = 0, epsilon_bar = 0;
    double phi_bar = 0;
    double norm2 = 0; ///< of the tridiagonal matrix so far, squared
};

class MinimalResiduals {
public:
    explicit MinimalResiduals(Columns& columns)
        : columns_(columns), rotations_(std::size_t(columns.count())),
          least_slope_(columns.quick() ? 1e-7 : 1e-13) {}

    void run() {
        columns_.begin();
        begin();
        while (columns_.may_go_on())
            iterate();
        columns_.finish();
    }

private:
    Rotation& of(Eigen::Index c) { return rotations_[std::size_t(c)]; }

    void begin() {
        const Block& residual = columns_.residual();
        r_ = residual;
        r_before_ = Block::Zero(r_.rows(), r_.cols());
        w_ = w_before_ = image_ = image_before_ = r_before_;
        z_ = columns_.preconditioned(r_);
        const Row squares = dot(r_, z_);
        for (Eigen::Index c = 0; c < columns_.count(); ++c)
            of(c).beta = of(c).phi_bar = length_of(c, squares[c]);
    }

    /// The length of which the square is given, in the preconditioner's
    /// metric; a column for which there is none ends.
    double length_of(Eigen::Index c, double square) {
        if (!columns_.is_active(c))
            return 0;
        if (!std::isfinite(square))
            columns_.end(c, SolveStatus::NotFinite);
        else if (square >= 0)
            return std::sqrt(square);
        else
            columns_.end(c, SolveStatus::Stagnated);
        return 0;
    }

    template <class Value> Row by_column(Value value) {
        Row all(columns_.count());
        for (Eigen::Index c = 0; c < columns_.count(); ++c)
            all[c] = columns_.is_active(c) ? value(c) : 0;
        return all;
    }

    void iterate() {
        v_ = z_.rowwise() *
             by_column([&](auto c) { return part(1, of(c).beta); });
        columns_.multiply(v_, product_);
        // alpha is taken of what is left of the product: of the product itself
        // it would cost Lanczos' vectors their orthogonality sooner. (Paige,
        // Computational variants of the Lanczos method, 1972.)
        next_ = product_ - r_before_.rowwise() * by_column([&](auto c) {
                               return part(of(c).beta, of(c).beta_before);
                           });
        const Row alpha = dot(v_, next_);
        next_ -= r_.rowwise() *
                 by_column([&](auto c) { return part(alpha[c], of(c).beta); });
        std::swap(r_before_, r_);
        std::swap(r_, next_);
        z_ = columns_.preconditioned(r_);
        const Row squares = dot(r_, z_);
        for (Eigen::Index c = 0; c < columns_.count(); ++c) {
            of(c).beta_before = of(c).beta;
            of(c).beta = length_of(c, squares[c]);
        }
        rotate(alpha);
    }

    /// Directions from the new column of the tridiagonal matrix, and a step.
    void rotate(const Row& alpha) {
        const Eigen::Index count = columns_.count();
        Row back2 = Row::Zero(count), back1 = back2, inverse = back2,
            steps = back2;
        for (Eigen::Index c = 0; c < count; ++c) {
            if (!columns_.is_active(c))
                continue;
            Rotation& q = of(c);
            q.norm2 += alpha[c] * alpha[c] + q.beta * q.beta +
                       q.beta_before * q.beta_before;
            back2[c] = q.epsilon_bar;
            back1[c] = q.cosine * q.delta_bar + q.sine * alpha[c];
            const double gamma_bar = q.sine * q.delta_bar - q.cosine * alpha[c];
            q.epsilon_bar = q.sine * q.beta;
            q.delta_bar = -q.cosine * q.beta;
            const double gamma = std::hypot(gamma_bar, q.beta);
            if (std::hypot(gamma_bar, q.delta_bar) <=
                least_slope_ * std::sqrt(q.norm2)) {
                columns_.end(c, SolveStatus::Stagnated);
                continue;
            }
            q.cosine = gamma_bar / gamma;
            q.sine = q.beta / gamma;
            inverse[c] = 1 / gamma;
            steps[c] = q.cosine * q.phi_bar;
            q.phi_bar *= q.sine;
        }
        advance(w_, w_before_, v_, back1, back2, inverse);
        advance(image_, image_before_, product_, back1, back2, inverse);
        columns_.step(w_, image_, steps);
        end_exhausted();
    }

    /// w, w_before = (v - back1 w - back2 w_before) / gamma, w
    void advance(Block& w, Block& before, const Block& v, const Row& back1,
                 const Row& back2, const Row& inverse) {
        next_ = (v - w.rowwise() * back1 - before.rowwise() * back2).rowwise() *
                inverse;
        std::swap(before, w);
        std::swap(w, next_);
    }

    /// The Krylov space of a column has no more directions.
    void end_exhausted() {
        for (Eigen::Index c = 0; c < columns_.count(); ++c)
            if (columns_.is_active(c) &&
                of(c).beta <= epsilon * std::sqrt(of(c).norm2))
                columns_.end(c, SolveStatus::Stagnated);
    }

    Columns& columns_;
    std::vector<Rotation> rotations_;
    double least_slope_; ///< of 2: products are not more exact
    Block r_, r_before_, z_, v_, product_, next_;
    Block w_, w_before_, image_, image_before_;
};

} // namespace

void descend_by_minimal_residuals(Columns& columns) {
    MinimalResiduals(columns).run();
}

} // namespace tilefold::krylov
