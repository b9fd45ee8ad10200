// runtime/solve/pivoted_cholesky.cpp - see pivoted_cholesky.h.
//
// Harbrecht, Peters and Schneider, On the low-rank approximation by the
// pivoted Cholesky decomposition, 2012: each step takes the row of the
// largest element that is left on the diagonal. As a preconditioner of kernel
// matrices with a ridge: Gardner, Pleiss, Bindel, Weinberger and Wilson,
// GPyTorch, 2018.
//
// 1. Rows are read as pivots are chosen: O(size · rank) elements and memory,
//    O(size · rank²) operations.
// 2. The inverse is Woodbury's: (I - L (shift + Lᵀ L)⁻¹ Lᵀ) / shift.
// 3. The shift is the ridge, or where there is none the mean of what is left
//    of the diagonal, and never so small that 2 cancels to nothing.
// 4. L Lᵀ is Nyström's approximation by the rows taken, whatever their order;
//    with pivots that are spread, no row waits for another.

#include "runtime/solve/pivoted_cholesky.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tilefold {
namespace {

constexpr std::int64_t usual_rows = 100;
/// Elements of L: 256 MiB.
constexpr std::int64_t most_elements = std::int64_t(1) << 25;
/// The eigenvalues of the preconditioned matrix lie between 1 and 1 + this,
/// once so much of the ridge is left of the trace.
constexpr double small_trace = 0.1;
/// The least shift, as a share of the trace of L Lᵀ: see 3.
constexpr double smallest_shift = 1e-13;

using RowMajor =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

} // namespace

std::int64_t largest_rank(std::int64_t size) {
    const std::int64_t fitting =
        most_elements / std::max<std::int64_t>(size, 1);
    return std::min({std::int64_t(16 * std::sqrt(double(size))), size,
                     std::max<std::int64_t>(fitting, 1)});
}

std::int64_t usual_rank(std::int64_t size) {
    return std::min(usual_rows, largest_rank(size));
}

struct PivotedCholesky::Factors {
    Elements elements;
    double ridge;
    Pivots pivots;
    Eigen::MatrixXd l;
    Eigen::VectorXd left; ///< of the diagonal
    double noise = 0;     ///< below, it is rounding
    /// Traces of what is left, before each column and after the last.
    std::vector<double> traces;
    Eigen::LLT<Eigen::MatrixXd> inner;
    double shift = 0;
    std::int64_t rank = 0;

    Factors(std::int64_t size, const Elements& elements, double ridge,
            Pivots pivots)
        : elements(elements), ridge(ridge), pivots(pivots), left(size) {
        elements.diagonal({left.data(), std::size_t(size)});
        noise = 4 * elements.epsilon * left.maxCoeff();
        traces = {left.cwiseMax(0).sum()};
    }

    bool is_enough() const { return !(traces.back() > small_trace * ridge); }

    /// Adds columns to L, `most` in all, and inverts.
    void factorise(std::int64_t most) {
        const Eigen::Index size = left.size();
        Eigen::VectorXd row(size);
        l.conservativeResize(size, most);
        for (; rank < most && !is_enough(); ++rank) {
            const Eigen::Index pivot = pivot_of();
            const double largest = left[pivot];
            if (!(largest > noise))
                break;
            elements.row(pivot, {row.data(), std::size_t(size)});
            auto known = l.leftCols(rank);
            row.noalias() -= known * known.row(pivot).transpose();
            l.col(rank) = row / std::sqrt(largest);
            left -= l.col(rank).cwiseAbs2();
            left[pivot] = 0;
            traces.push_back(left.cwiseMax(0).sum());
        }
        if (rank > 0)
            invert();
    }

    Eigen::Index pivot_of() const {
        Eigen::Index pivot = 0;
        if (pivots == Pivots::Spread) {
            pivot = rank * l.rows() / l.cols();
            if (left[pivot] > noise)
                return pivot;
        }
        left.maxCoeff(&pivot);
        return pivot;
    }

    void invert() {
        l.conservativeResize(Eigen::NoChange, rank);
        const double trace = l.squaredNorm();
        shift = ridge > 0 ? ridge : traces.back() / double(l.rows());
        shift = std::max(shift, smallest_shift * trace);
        Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(rank, rank);
        gram.selfadjointView<Eigen::Lower>().rankUpdate(l.transpose());
        gram.diagonal().array() += shift;
        inner.compute(gram);
        if (inner.info() != Eigen::Success)
            rank = 0;
    }
};

PivotedCholesky::PivotedCholesky(std::int64_t size, const Elements& elements,
                                 double ridge, Pivots pivots,
                                 std::optional<std::int64_t> most)
    : factors_(std::make_unique<Factors>(size, elements, ridge, pivots)) {
    factors_->factorise(std::min(most.value_or(usual_rank(size)), size));
}

PivotedCholesky::~PivotedCholesky() = default;

std::int64_t PivotedCholesky::rank() const {
    return factors_->rank;
}

void PivotedCholesky::grow(std::int64_t most) {
    factors_->factorise(std::min(most, std::int64_t(factors_->left.size())));
}

double PivotedCholesky::promise() const {
    const Factors& all = *factors_;
    if (all.pivots != Pivots::Largest || all.is_enough() || all.rank < 2 ||
        !(all.left.maxCoeff() > all.noise))
        return 1;
    return all.traces.back() / all.traces[std::size_t(all.rank / 2)];
}

void PivotedCholesky::apply(std::span<const double> in, std::span<double> out,
                            std::int64_t columns) const {
    const Eigen::MatrixXd& l = factors_->l;
    Eigen::Map<const RowMajor> from(in.data(), l.rows(), columns);
    Eigen::Map<RowMajor> to(out.data(), l.rows(), columns);
    Eigen::MatrixXd inner = l.transpose() * from;
    factors_->inner.solveInPlace(inner);
    to.noalias() = l * inner;
    to = (from - to) / factors_->shift;
}

void PivotedCholesky::colour(std::span<const double> inner,
                             std::span<double> values,
                             std::int64_t columns) const {
    const Eigen::MatrixXd& l = factors_->l;
    Eigen::Map<const RowMajor> from(inner.data(), l.cols(), columns);
    Eigen::Map<RowMajor> to(values.data(), l.rows(), columns);
    to *= std::sqrt(factors_->shift);
    to.noalias() += l * from;
}

double PivotedCholesky::shift() const {
    return factors_->shift;
}

double PivotedCholesky::log_determinant() const {
    // det(shift + L Lᵀ) = det(shift + Lᵀ L) shift^(size - rank)
    const Eigen::MatrixXd& l = factors_->l;
    const auto& factor = factors_->inner.matrixLLT();
    return 2 * factor.diagonal().array().log().sum() +
           double(l.rows() - l.cols()) * std::log(factors_->shift);
}

} // namespace tilefold
