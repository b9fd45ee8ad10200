// runtime/solve/kernel_solve.cpp - see kernel_solve.h.

#include "runtime/solve/kernel_solve.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/call_location.h"
#include "runtime/core/element.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace tilefold {
namespace {

bool is_narrow(DType dtype) {
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

/// The caller's poll over all products: a single one may be too short for it.
class Clocked {
public:
    /// `most`: products there may be.
    Clocked(const Poll& poll, double most) : poll_(poll), most_(most) {}

    Poll inside() {
        if (!poll_)
            return {};
        return [this](double done, double total) {
            pairs_ = total;
            return tell(done);
        };
    }
    void product_done() { ++done_; }
    /// Throws Error(Cancelled).
    void between() {
        if (poll_ && Clock::now() >= due_ && !tell(0))
            fail(Code::Cancelled,
                 {std::to_string(int(100 * std::min(1.0, done_ / most_))) +
                  "%"});
    }

private:
    using Clock = std::chrono::steady_clock;

    bool tell(double part) {
        due_ = Clock::now() + std::chrono::milliseconds(50);
        const double total = most_ * pairs_;
        return poll_(std::min(done_ * pairs_ + part, total), total);
    }

    const Poll& poll_;
    double most_, done_ = 0, pairs_ = 1;
    Clock::time_point due_ = Clock::now() + std::chrono::milliseconds(50);
};

/// Values of a pair term, as double.
class PairTerm {
public:
    PairTerm(const Formula& pair, std::span<const NamedView> arguments,
             const GoesOn& goes_on, Clocked& clocked)
        : pair_(pair), arguments_(arguments), goes_on_(goes_on),
          clocked_(clocked) {}

    void diagonal(std::span<double> out) {
        evaluate({.query = Query::Diag, .goes_on = goes_on_}, out);
    }
    void row(std::int64_t number, std::span<double> out) {
        evaluate(
            {.query = Query::Dense, .i = Rows{&number, 1}, .goes_on = goes_on_},
            out);
    }

private:
    void evaluate(const BindOptions& options, std::span<double> out) {
        const Bound bound = pair_.bind(arguments_, options);
        const std::size_t size = size_of(bound.dtype());
        bytes_.resize(out.size() * size);
        bound.run(Output::of(bytes_.data(), bound.dtype(), bound.shape()));
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = element_at(bytes_.data() + k * size, bound.dtype());
        clocked_.between();
    }

    const Formula& pair_;
    std::span<const NamedView> arguments_;
    const GoesOn& goes_on_;
    Clocked& clocked_;
    std::vector<std::byte> bytes_;
};

double value_at(const View& view, std::int64_t row, std::int64_t column) {
    const auto* data = static_cast<const char*>(view.data);
    return element_at(
        data + row * view.strides[0] +
            (view.shape.size() == 2 ? column * view.strides[1] : 0),
        view.dtype);
}

} // namespace

/// The real matrix of a system, for the time of one solve.
class KernelSystem::Matrix {
public:
    /// `most`: products there may be.
    Matrix(const KernelSystem& system, const Poll& poll, double most)
        : system_(system), clocked_(poll, most),
          real_(system.formulas_.pair, system.arguments_, system.goes_on_,
                clocked_),
          imaginary_(system.is_hermitian() ? *system.formulas_.imaginary
                                           : system.formulas_.pair,
                     system.arguments_, system.goes_on_, clocked_) {}

    /// Products of `columns` columns, which refer to this.
    LinearOperator products(std::int64_t columns) {
        const DType working = system_.working_;
        LinearOperator matrix;
        matrix.size = system_.size();
        matrix.product = [this, columns](auto in, auto out) {
            multiply(DType::F64, in, out, columns);
        };
        if (working == DType::F32)
            matrix.quick_product = [this, columns](auto in, auto out) {
                multiply(DType::F32, in, out, columns);
            };
        matrix.elements.diagonal = [this](auto out) { diagonal(out); };
        matrix.elements.row = [this](auto row, auto out) {
            this->row(row, out);
        };
        matrix.elements.epsilon = working == DType::F32
                                      ? std::numeric_limits<float>::epsilon()
                                      : std::numeric_limits<double>::epsilon();
        return matrix;
    }

    /// Throws Error(Cancelled).
    void between() { clocked_.between(); }

private:
    /// out = matrix · in. Of a Hermitian kernel, both are real parts and then
    /// imaginary ones.
    template <class T>
    void multiply(DType dtype, const T* in, T* out, std::int64_t columns) {
        const std::int64_t rows = system_.rows_;
        const Extents shape =
            columns == 1 && system_.side_.view.shape.size() == 1
                ? Extents{rows}
                : Extents{rows, columns};
        std::vector<NamedView> all = system_.arguments_;
        const std::string_view side = system_.side_.name;
        all.push_back({side, View::of(in, dtype, shape), {}});
        std::vector<Output> outs = {Output::of(out, dtype, shape)};
        if (system_.is_hermitian()) {
            const std::int64_t half = rows * columns;
            all.push_back(
                {side, View::of(in + half, dtype, shape), {}, Part::Imaginary});
            outs.push_back(Output::of(out + half, dtype, shape));
        }
        RunOptions run;
        run.poll = clocked_.inside();
        system_.formulas_.product.bind(all, {.goes_on = system_.goes_on_})
            .run(outs, run);
        clocked_.product_done();
        clocked_.between();
    }

    void diagonal(std::span<double> out) {
        const auto rows = std::size_t(system_.rows_);
        real_.diagonal(out.first(rows));
        if (system_.is_hermitian())
            std::copy_n(out.begin(), rows, out.begin() + std::ptrdiff_t(rows));
    }

    void row(std::int64_t number, std::span<double> out) {
        const std::int64_t rows = system_.rows_;
        const auto half = std::size_t(rows);
        if (!system_.is_hermitian())
            return real_.row(number, out);
        const bool lower = number >= rows;
        const std::int64_t of = lower ? number - rows : number;
        real_.row(of, lower ? out.last(half) : out.first(half));
        const std::span<double> other =
            lower ? out.first(half) : out.last(half);
        imaginary_.row(of, other);
        if (!lower)
            for (double& value : other)
                value = -value;
    }

    const KernelSystem& system_;
    Clocked clocked_;
    PairTerm real_, imaginary_;
};

KernelSystem::KernelSystem(SystemFormulas formulas, const Extents& shape,
                           std::span<const NamedView> arguments,
                           std::string_view side, const GoesOn& goes_on)
    : formulas_(std::move(formulas)), goes_on_(goes_on) {
    for (const NamedView& argument : arguments)
        if (argument.name != side || !is_of_points(argument.part))
            arguments_.push_back(argument);
        else if (argument.part == Part::Real)
            side_ = argument;
        else
            imaginary_side_ = argument;
    if (shape.size() > 2)
        fail(Code::SolveBatches, {spelling_of(shape)});
    if (shape[0] != shape[1])
        fail(Code::SolveNotSquare, {spelling_of(shape)});
    rows_ = shape[0];
    const Extents& given = side_.view.shape;
    if (given.empty() || given.size() > 2 || given[0] != rows_)
        fail(Code::SolveSide, {spelling_of(given), std::to_string(rows_)});
    columns_ = given.size() == 2 ? given[1] : 1;
    if (rows_ == 0 || columns_ == 0)
        return;
    const Bound bound =
        formulas_.product.bind(arguments, {.goes_on = goes_on_});
    require_host(bound.location(), "solve");
    const DType result = bound.dtype();
    dtype_ = kind_of(result) == DTypeKind::Float ? result : DType::F64;
    if (is_complex() && is_narrow(dtype_))
        dtype_ = DType::F32;
    working_ = is_narrow(result) ? DType::F32 : DType::F64;
}

std::int64_t KernelSystem::size() const {
    return is_hermitian() ? 2 * rows_ : rows_;
}

std::int64_t KernelSystem::real_columns() const {
    return is_complex() && !is_hermitian() ? 2 * columns_ : columns_;
}

std::vector<double> KernelSystem::side_values() const {
    const std::int64_t columns = real_columns();
    std::vector<double> values(std::size_t(size() * columns), 0.0);
    const auto put = [&](const View& view, std::int64_t row,
                         std::int64_t column) {
        for (std::int64_t i = 0; i < rows_; ++i)
            for (std::int64_t c = 0; c < columns_; ++c)
                values[std::size_t((row + i) * columns + column + c)] =
                    value_at(view, i, c);
    };
    put(side_.view, 0, 0);
    if (imaginary_side_ && is_hermitian())
        put(imaginary_side_->view, rows_, 0);
    else if (imaginary_side_)
        put(imaginary_side_->view, 0, columns_);
    return values;
}

Solution KernelSystem::solve(const SolveOptions& options,
                             const Poll& poll) const {
    check_options(options);
    Matrix matrix(*this, poll, double(most_iterations(options, size())));
    Solution solution = tilefold::solve(matrix.products(real_columns()),
                                        side_values(), real_columns(), options);
    join_columns(solution);
    return solution;
}

LogDeterminant KernelSystem::log_determinant(const LogdetOptions& options,
                                             const Poll& poll) const {
    Matrix matrix(*this, poll, double(most_steps(options, size())));
    const std::vector<double> sides = side_values();
    LogDeterminant found = tilefold::log_determinant(
        matrix.products(options.probes), options, sides, real_columns(),
        [&] { matrix.between(); });
    if (is_hermitian()) { // every eigenvalue was met twice
        found.value /= 2;
        found.error /= 2;
        found.moved /= 2;
    }
    if (!found.quadratics.empty() && real_columns() > columns_)
        for (std::int64_t c = 0; c < columns_; ++c)
            found.quadratics[std::size_t(c)] +=
                found.quadratics[std::size_t(c + columns_)];
    found.quadratics.resize(found.is_exact() ? std::size_t(columns_) : 0);
    return found;
}

/// Joins real parts and imaginary ones that were solved for as two columns.
void KernelSystem::join_columns(Solution& solution) const {
    if (real_columns() == columns_)
        return;
    for (std::int64_t c = 0; c < columns_; ++c) {
        double square = 0, whole = 0;
        for (const auto& [view, column] :
             {std::pair(&side_.view, c),
              std::pair(&imaginary_side_->view, c + columns_)}) {
            double length = 0;
            for (std::int64_t i = 0; i < rows_; ++i) {
                const double value = value_at(*view, i, c);
                length += value * value;
            }
            const double residual = solution.residuals[std::size_t(column)];
            square += length > 0 ? residual * residual * length : 0;
            whole += length;
        }
        const auto first = std::size_t(c), second = std::size_t(c + columns_);
        solution.residuals[first] = whole > 0 ? std::sqrt(square / whole) : 0;
        solution.outcomes[first] =
            std::max(solution.outcomes[first], solution.outcomes[second]);
    }
    solution.residuals.resize(std::size_t(columns_));
    solution.outcomes.resize(std::size_t(columns_));
}

void KernelSystem::store(const Solution& solution, const Output& real,
                         const Output& imaginary) const {
    const std::int64_t columns = real_columns();
    const auto put = [&](const Output& out, std::int64_t row,
                         std::int64_t column) {
        for (std::int64_t i = 0; i < rows_; ++i)
            for (std::int64_t c = 0; c < columns_; ++c)
                store_element(
                    solution.x[std::size_t((row + i) * columns + column + c)],
                    out.dtype,
                    static_cast<char*>(out.data) + i * out.strides[0] +
                        (out.shape.size() == 2 ? c * out.strides[1] : 0));
    };
    put(real, 0, 0);
    if (is_hermitian())
        put(imaginary, rows_, 0);
    else if (is_complex())
        put(imaginary, 0, columns_);
}

std::string KernelSystem::warning(const Solution& solution,
                                  const SolveOptions& options) const {
    const std::string iterations = std::to_string(solution.iterations),
                      residual = spelled(solution.largest_residual(), 2),
                      rtol = spelled(options.rtol, 2);
    const bool single = working_ == DType::F32;
    switch (solution.worst()) {
    case SolveStatus::Converged:
        return "";
    case SolveStatus::Exhausted:
        return message_of(
            Code::SolveExhausted,
            {iterations, residual, rtol,
             solution.rank > 0 || options.method == Method::MinimalResiduals
                 ? "raise maxiter, ridge or rtol"
                 : "raise maxiter, ridge or rtol, or pass "
                   "preconditioner='cholesky'"});
    case SolveStatus::Stagnated:
        return message_of(
            Code::SolveStagnated,
            {iterations, residual, rtol, single ? "float32" : "float64",
             single ? "raise ridge or rtol, or pass float64 arrays"
                    : "raise ridge or rtol"});
    case SolveStatus::Indefinite:
        return message_of(Code::SolveIndefinite, {iterations, residual});
    case SolveStatus::Asymmetric:
        return message_of(
            Code::SolveAsymmetric,
            {iterations, residual, is_hermitian() ? "Hermitian" : "symmetric",
             is_hermitian() ? "(K + K.T.conj())/2" : "(K + K.T)/2"});
    case SolveStatus::NotFinite:
        return message_of(Code::SolveNotFinite, {iterations});
    }
    internal_error("an unknown outcome");
}

std::string warning_of(const LogDeterminant& found) {
    switch (found.outcome) {
    case SolveStatus::Converged:
        return "";
    case SolveStatus::Indefinite:
    case SolveStatus::Stagnated:
        return message_of(Code::LogdetIndefinite, {});
    case SolveStatus::Asymmetric:
        return message_of(Code::LogdetAsymmetric, {});
    case SolveStatus::NotFinite:
        return message_of(Code::LogdetNotFinite, {});
    case SolveStatus::Exhausted:
        return message_of(Code::LogdetUnsettled,
                          {spelled(found.moved, 2), std::to_string(found.steps),
                           spelled(found.error, 2)});
    }
    internal_error("an unknown outcome");
}

} // namespace tilefold
