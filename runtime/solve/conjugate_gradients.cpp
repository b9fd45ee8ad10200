// runtime/solve/conjugate_gradients.cpp - for positive definite matrices:
// Hestenes and Stiefel, Methods of conjugate gradients for solving linear
// systems, 1952.

#include "runtime/solve/krylov.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilefold::krylov {
namespace {

/// Negative curvature within so many roundings of a product is noise.
constexpr double noise = 8 * std::numeric_limits<double>::epsilon();
/// The smallest cosine of p and A p where the condition of A is 1/epsilon, by
/// Kantorovich's inequality: below, A is singular to double precision.
const double smallest_cosine =
    2 * std::sqrt(std::numeric_limits<double>::epsilon());

class ConjugateGradients {
public:
    explicit ConjugateGradients(Columns& columns)
        : columns_(columns), largest_(Row::Zero(columns.count())) {}

    void run() {
        columns_.begin();
        direction_ = columns_.preconditioned(columns_.residual());
        Row descent = dot(columns_.residual(), direction_);
        stop_columns();
        while (columns_.may_go_on() && !columns_.would_gain()) {
            columns_.multiply(direction_, image_);
            columns_.step(direction_, image_, steps_along(descent));
            const Block& next = columns_.preconditioned(columns_.residual());
            const Row again = dot(columns_.residual(), next);
            Row keep = again / descent;
            for (double& factor : keep)
                factor = std::isfinite(factor) ? factor : 0;
            direction_ = next + direction_.rowwise() * keep;
            descent = again;
            stop_columns();
        }
        columns_.finish();
    }

private:
    /// Takes the direction from columns that have ended.
    void stop_columns() {
        for (Eigen::Index c = 0; c < columns_.count(); ++c)
            if (!columns_.is_active(c))
                direction_.col(c).setZero();
    }

    /// How far each column goes; those that cannot end here.
    Row steps_along(const Row& descent) {
        const Row curvature = dot(direction_, image_);
        const Row length = lengths_of(direction_);
        const Row stretched = lengths_of(image_);
        Row steps = Row::Zero(columns_.count());
        for (Eigen::Index c = 0; c < columns_.count(); ++c) {
            if (!columns_.is_active(c))
                continue;
            largest_[c] = std::max(largest_[c], stretched[c] / length[c]);
            if (!std::isfinite(curvature[c]) || !std::isfinite(descent[c]))
                columns_.end(c, SolveStatus::NotFinite);
            else if (curvature[c] < 0 && is_indefinite(c))
                columns_.end(c, SolveStatus::Indefinite);
            else if (curvature[c] <= smallest_cosine * length[c] * stretched[c])
                columns_.end(c, SolveStatus::Stagnated);
            else
                steps[c] = descent[c] / curvature[c];
        }
        return steps;
    }

    /// Whether the negative curvature is that of the matrix, and not of the
    /// roundings of its products.
    bool is_indefinite(Eigen::Index column) {
        if (columns_.quick())
            columns_.multiply_exactly(direction_, image_);
        const auto p = direction_.col(column).matrix();
        const double curvature = p.dot(image_.col(column).matrix());
        return curvature < -noise * largest_[column] * p.squaredNorm();
    }

    Columns& columns_;
    Block direction_, image_;
    Row largest_; ///< |A p| / |p| so far
};

} // namespace

void descend_by_conjugate_gradients(Columns& columns) {
    ConjugateGradients(columns).run();
}

} // namespace tilefold::krylov
