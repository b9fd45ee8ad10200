// runtime/solve/log_determinant.cpp - see log_determinant.h.
//
// Ubaru, Chen and Saad, Fast estimation of tr(f(A)) via stochastic Lanczos
// quadrature, 2017; with a preconditioner as in Gardner, Pleiss, Bindel,
// Weinberger and Wilson, GPyTorch, 2018.
//
// 1. log det A = log det P + tr log(P^-½ A P^-½), P being the preconditioner.
//    With probes z of covariance P, P^-½ z has no preferred direction, and
//    rows · e₁ᵀ log(T) e₁ has the trace as its mean, T being the tridiagonal
//    matrix of Lanczos' method that starts from it. Without a preconditioner
//    probes are signs: then only elements beside the diagonal make errors.
// 2. e₁ᵀ log(T) e₁ is Gauss' quadrature: too large, the less the more steps.
//    With a node at a lower bound of all eigenvalues it is Radau's, and too
//    small. A ridge gives such a bound, for a kernel is positive: the truth is
//    between the two (Golub and Meurant, Matrices, moments and quadrature).
//    Without a ridge, all that is known is by how much less each step changes
//    than the one before.
// 3. Steps end where that is small beside the error of the probes.

#include "runtime/solve/log_determinant.h"

#include "formulas/diagnostic.h"
#include "runtime/solve/symmetry.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace tilefold {
namespace {

using Block =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// The share of the probes' error that the quadrature may leave.
constexpr double small_part = 0.1;
/// The share of the value that rounding leaves in doubt, whatever the probes
/// say.
constexpr double in_doubt = 1e-12;
/// Steps between two looks at the quadrature.
constexpr std::int64_t stride = 5;

// ---- small matrices ---------------------------------------------------------

/// A = L Lᵀ in place, block after block so that it can be stopped.
bool factorise(Eigen::MatrixXd& a, const std::function<void()>& between) {
    constexpr Eigen::Index width = 128;
    const Eigen::Index size = a.rows();
    for (Eigen::Index k = 0; k < size; k += width) {
        const Eigen::Index block = std::min(width, size - k);
        const Eigen::Index rest = size - k - block;
        auto corner = a.block(k, k, block, block);
        const Eigen::LLT<Eigen::MatrixXd> factor(corner);
        if (factor.info() != Eigen::Success)
            return false;
        corner = factor.matrixL();
        auto below = a.block(k + block, k, rest, block);
        corner.triangularView<Eigen::Lower>()
            .transpose()
            .solveInPlace<Eigen::OnTheRight>(below);
        a.block(k + block, k + block, rest, rest)
            .selfadjointView<Eigen::Lower>()
            .rankUpdate(below, -1);
        between();
    }
    return true;
}

/// Whether a matrix of computed elements is symmetric, up to roundings.
bool is_symmetric(const Eigen::MatrixXd& a, double epsilon) {
    if (a.size() == 0)
        return true;
    const double tolerance = std::sqrt(epsilon) * a.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < a.cols(); ++k)
        for (Eigen::Index i = 0; i < k; ++i)
            if (std::abs(a(i, k) - a(k, i)) > tolerance)
                return false;
    return true;
}

LogDeterminant factored(const LinearOperator& matrix, double ridge,
                        std::span<const double> b, std::int64_t columns,
                        const std::function<void()>& between) {
    const Eigen::Index size = matrix.size;
    Eigen::MatrixXd a(size, size);
    for (Eigen::Index k = 0; k < size; ++k) // symmetric: a row is a column
        matrix.elements.row(k, {a.col(k).data(), std::size_t(size)});
    a.diagonal().array() += ridge;
    LogDeterminant found;
    if (!a.allFinite())
        found.outcome = SolveStatus::NotFinite;
    else if (!is_symmetric(a, matrix.elements.epsilon))
        found.outcome = SolveStatus::Asymmetric;
    else if (!factorise(a, between))
        found.outcome = SolveStatus::Indefinite;
    if (found.outcome != SolveStatus::Converged) {
        found.value = nan;
        found.quadratics.assign(std::size_t(columns), nan);
        return found;
    }
    found.value = 2 * a.diagonal().array().log().sum();
    Block sides = Eigen::Map<const Block>(b.data(), size, columns);
    if (columns > 0) // Eigen would bind a reference to what is not there
        a.triangularView<Eigen::Lower>().solveInPlace(sides);
    const Row squares = sides.array().square().colwise().sum();
    found.quadratics.assign(squares.data(), squares.data() + squares.size());
    return found;
}

// ---- probes -----------------------------------------------------------------

/// Signs, or numbers of a normal distribution; the same on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    double sign() { return bits_() >> 63 ? 1.0 : -1.0; }
    /// Box and Muller's.
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    /// A random number in (0, 1].
    double uniform() { return double((bits_() >> 11) + 1) * 0x1p-53; }

    std::mt19937_64 bits_;
};

// ---- quadrature -------------------------------------------------------------

/// Eigenvalues of tridiagonal matrices, and the first element of each of
/// their eigenvectors: Golub and Welsch, Calculation of Gauss quadrature rules,
/// 1969, by implicit QL steps.
class Nodes {
public:
    Nodes(std::span<const double> diagonal, std::span<const double> beside)
        : values_(diagonal.begin(), diagonal.end()),
          beside_(beside.begin(), beside.end()), first_(diagonal.size(), 0.0) {
        beside_.resize(values_.size(), 0.0);
        first_[0] = 1;
        for (std::size_t k = 0; k < values_.size(); ++k)
            found_ = found_ && reduce(k);
    }

    /// Σ log(value) first²; NaN where a value is not positive.
    double sum_of_logs() const {
        double sum = found_ ? 0 : nan;
        for (std::size_t k = 0; k < values_.size(); ++k)
            sum += values_[k] > 0 ? std::log(values_[k]) * first_[k] * first_[k]
                                  : nan;
        return sum;
    }

private:
    /// The first row from `from` on after which the matrix falls apart.
    std::size_t end_of_block(std::size_t from) const {
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        std::size_t end = from;
        while (
            end + 1 < values_.size() &&
            !(std::abs(beside_[end]) <=
              epsilon * (std::abs(values_[end]) + std::abs(values_[end + 1]))))
            ++end;
        return end;
    }

    /// Steps until row `row` stands alone.
    bool reduce(std::size_t row) {
        constexpr int most = 60;
        for (int steps = 0; steps < most; ++steps) {
            const std::size_t end = end_of_block(row);
            if (end == row)
                return true;
            step(row, end);
        }
        return false;
    }

    void step(std::size_t row, std::size_t end) {
        double shift = (values_[row + 1] - values_[row]) / (2 * beside_[row]);
        shift = values_[end] - values_[row] +
                beside_[row] /
                    (shift + std::copysign(std::hypot(shift, 1.0), shift));
        double sine = 1, cosine = 1, moved = 0;
        for (std::size_t k = end; k-- > row;) {
            const double f = sine * beside_[k], b = cosine * beside_[k];
            const double length = std::hypot(f, shift);
            beside_[k + 1] = length;
            if (length == 0) { // it falls apart here
                values_[k + 1] -= moved;
                beside_[end] = 0;
                return;
            }
            sine = f / length;
            cosine = shift / length;
            const double g = values_[k + 1] - moved;
            const double r = (values_[k] - g) * sine + 2 * cosine * b;
            moved = sine * r;
            values_[k + 1] = g + moved;
            shift = cosine * r - b;
            const double z = first_[k + 1];
            first_[k + 1] = sine * first_[k] + cosine * z;
            first_[k] = cosine * first_[k] - sine * z;
        }
        values_[row] -= moved;
        beside_[row] = shift;
        beside_[end] = 0;
    }

    std::vector<double> values_, beside_, first_;
    bool found_ = true;
};

/// The tridiagonal matrix of one probe.
struct Tridiagonal {
    std::vector<double> diagonal, beside;

    /// e₁ᵀ log(T) e₁; NaN where T is not positive definite.
    double log_at_first() const {
        return Nodes(diagonal, beside).sum_of_logs();
    }

    /// The same with an eigenvalue at `node`, which is below all others;
    /// `next` is the element beside the diagonal that comes next.
    double log_with_node(double node, double next) const {
        double pivot = diagonal[0] - node; // of T - node, row after row
        for (std::size_t k = 1; k < diagonal.size() && pivot > 0; ++k)
            pivot = diagonal[k] - node - beside[k - 1] * beside[k - 1] / pivot;
        if (!(pivot > 0)) // the node is not below
            return nan;
        Tridiagonal wider = *this;
        wider.beside.push_back(next);
        wider.diagonal.push_back(node + next * next / pivot);
        return wider.log_at_first();
    }
};

class Lanczos {
public:
    Lanczos(const LinearOperator& matrix, const LogdetOptions& options)
        : matrix_(matrix), options_(options), random_(options.seed) {
        symmetric_ = is_symmetric(matrix_, options_.probes);
        precondition();
        begin();
    }

    LogDeterminant run() {
        const std::int64_t most = most_steps(options_, matrix_.size);
        LogDeterminant found;
        found.probes = options_.probes;
        found.rank = rank();
        while (found.steps < most) {
            step();
            ++found.steps;
            if (found.steps % stride != 0 && found.steps < most && !ended())
                continue;
            estimate(found);
            if (found.outcome != SolveStatus::Exhausted)
                return found;
            if (ended())
                break;
        }
        if (ended()) // the Krylov spaces have no more
            found.outcome = SolveStatus::Converged;
        return found;
    }

private:
    std::int64_t rank() const {
        return preconditioner_ ? preconditioner_->rank() : 0;
    }

    void precondition() {
        const Preconditioner wanted = options_.preconditioner;
        if (wanted == Preconditioner::None)
            return;
        preconditioner_.emplace(matrix_.size, matrix_.elements, options_.ridge,
                                wanted == Preconditioner::Nystrom
                                    ? Pivots::Spread
                                    : Pivots::Largest);
    }

    /// P⁻¹ in.
    Block solved(const Block& in) const {
        if (rank() == 0)
            return in;
        Block out(in.rows(), in.cols());
        const auto size = std::size_t(in.size());
        preconditioner_->apply({in.data(), size}, {out.data(), size},
                               in.cols());
        return out;
    }

    void begin() {
        const std::int64_t rows = matrix_.size, probes = options_.probes;
        v_.resize(rows, probes);
        for (Eigen::Index k = 0; k < v_.size(); ++k)
            v_.data()[k] = rank() == 0 ? random_.sign() : random_.normal();
        if (rank() > 0) {
            Block inner(rank(), probes);
            for (Eigen::Index k = 0; k < inner.size(); ++k)
                inner.data()[k] = random_.normal();
            preconditioner_->colour({inner.data(), std::size_t(inner.size())},
                                    {v_.data(), std::size_t(v_.size())},
                                    probes);
        }
        before_ = Block::Zero(rows, probes);
        w_ = solved(v_);
        beta_ = dot(v_, w_).sqrt();
        matrices_.resize(std::size_t(probes));
        scale();
    }

    static Row dot(const Block& a, const Block& b) {
        return (a.array() * b.array()).colwise().sum();
    }

    /// Divides by beta; a probe whose Krylov space has ended stays at 0.
    void scale() {
        const Row inverse = (beta_ > 0).select(1 / beta_, 0.0);
        v_ = v_.array().rowwise() * inverse;
        w_ = w_.array().rowwise() * inverse;
    }

    /// Adds a row to each tridiagonal matrix.
    void step() {
        Block u(w_.rows(), w_.cols());
        matrix_.product(w_.data(), u.data());
        u += options_.ridge * w_;
        u.array() -= before_.array().rowwise() * beta_;
        const Row alpha = dot(w_, u);
        u.array() -= v_.array().rowwise() * alpha;
        before_ = v_;
        v_ = u;
        w_ = solved(v_);
        const Row squares = dot(v_, w_);
        for (std::size_t c = 0; c < matrices_.size(); ++c) {
            const auto column = Eigen::Index(c);
            if (is_over(column))
                continue;
            Tridiagonal& t = matrices_[c];
            if (!t.diagonal.empty())
                t.beside.push_back(beta_[column]);
            t.diagonal.push_back(alpha[column]);
            largest_ = std::max(largest_, std::abs(alpha[column]));
        }
        beta_ = squares.max(0).sqrt();
        for (Eigen::Index c = 0; c < beta_.size(); ++c)
            if (beta_[c] <= std::numeric_limits<double>::epsilon() * largest_)
                beta_[c] = 0;
        finite_ = finite_ && alpha.isFinite().all() && squares.isFinite().all();
        scale();
    }

    bool is_over(Eigen::Index column) const {
        return beta_[column] == 0 &&
               !matrices_[std::size_t(column)].diagonal.empty();
    }
    bool ended() const { return (beta_ == 0).all(); }

    /// The value and its error by now; Exhausted where steps are wanted.
    void estimate(LogDeterminant& found) {
        const auto count = double(matrices_.size());
        const double rows = double(matrix_.size), node = lower_bound();
        Row gauss(matrices_.size()), gap = Row::Zero(matrices_.size());
        for (std::size_t c = 0; c < matrices_.size(); ++c) {
            const auto column = Eigen::Index(c);
            gauss[column] = rows * matrices_[c].log_at_first();
            if (node > 0 && !is_over(column))
                gap[column] = gauss[column] - rows * matrices_[c].log_with_node(
                                                         node, beta_[column]);
        }
        if (!finite_ || !symmetric_ || !gauss.isFinite().all()) {
            found.value = nan;
            found.error = nan;
            found.outcome = !finite_      ? SolveStatus::NotFinite
                            : !symmetric_ ? SolveStatus::Asymmetric
                                          : SolveStatus::Indefinite;
            return;
        }
        // Rounding of products may put an eigenvalue below the bound.
        const bool bounded = node > 0 && gap.isFinite().all();
        const Row middle = bounded ? Row(gauss - gap / 2) : gauss;
        const double mean = middle.mean();
        const double spread =
            std::sqrt((middle - mean).square().sum() / (count - 1) / count);
        found.moved = bounded ? std::abs(gap.mean()) / 2 : left_after(mean);
        found.value = mean + (rank() ? preconditioner_->log_determinant() : 0);
        found.error = std::hypot(spread, found.moved);
        const bool settled =
            found.moved <= small_part * spread ||
            found.moved <= in_doubt * (std::abs(found.value) + rows);
        found.outcome =
            settled ? SolveStatus::Converged : SolveStatus::Exhausted;
    }

    /// What later steps may still change, as far as the last ones tell: each
    /// changes a fraction of what the one before did.
    double left_after(double mean) {
        constexpr double slowest = 0.95;
        const double change = std::abs(mean - last_);
        const bool shrinks =
            std::isfinite(last_change_) && change < last_change_;
        const double ratio =
            shrinks ? std::min(slowest, change / last_change_) : slowest;
        last_ = mean;
        last_change_ = change;
        return std::max(change, change * ratio / (1 - ratio));
    }

    /// A lower bound of the eigenvalues of P^-½ A P^-½; 0: none is known.
    double lower_bound() const {
        constexpr double below = 1 - 1e-9;
        const double shift = rank() ? preconditioner_->shift() : 1;
        return options_.ridge > 0 ? below * options_.ridge / shift : 0;
    }

    const LinearOperator& matrix_;
    const LogdetOptions& options_;
    Random random_;
    std::optional<PivotedCholesky> preconditioner_;
    Block v_, before_, w_; ///< w = P⁻¹ v, and vᵀ w = 1
    Row beta_;             ///< what comes beside the diagonal next
    std::vector<Tridiagonal> matrices_;
    double largest_ = 0; ///< element of the matrices
    double last_ = std::numeric_limits<double>::infinity();
    double last_change_ = std::numeric_limits<double>::infinity();
    bool finite_ = true;
    bool symmetric_ = true; ///< where it is not, the quadrature is of nothing
};

} // namespace

void check_options(const LogdetOptions& options) {
    if (!(options.ridge >= 0) || !std::isfinite(options.ridge))
        fail(Code::BadOption, {"ridge", spelled(options.ridge),
                               "pass a finite number, 0 or above"});
    if (options.probes < 2)
        fail(Code::BadOption, {"probes", std::to_string(options.probes),
                               "pass a whole number, 2 or above"});
    if (options.maxiter && *options.maxiter < 1)
        fail(Code::BadOption, {"maxiter", std::to_string(*options.maxiter),
                               "pass a whole number, 1 or above"});
}

std::int64_t most_steps(const LogdetOptions& options, std::int64_t size) {
    constexpr std::int64_t most = 200;
    return std::min(size, options.maxiter.value_or(most));
}

LogDeterminant log_determinant(const LinearOperator& matrix,
                               const LogdetOptions& options,
                               std::span<const double> b, std::int64_t columns,
                               const std::function<void()>& between) {
    check_options(options);
    if (matrix.size < exact_size)
        return factored(matrix, options.ridge, b, columns, between);
    return Lanczos(matrix, options).run();
}

} // namespace tilefold
