// runtime/kernel_solve.cpp - see kernel_solve.h.

#include "runtime/kernel_solve.h"

#include "formulas/diagnostic.h"
#include "runtime/bind_shapes.h"
#include "runtime/devices.h"
#include "runtime/element.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <sstream>

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

/// Values of the pair term, as double.
class PairTerm {
public:
    PairTerm(const Formula& pair, std::span<const NamedView> arguments,
             Clocked& clocked)
        : pair_(pair), arguments_(arguments), clocked_(clocked) {}

    void diagonal(std::span<double> out) { evaluate({Want::Diag}, out); }
    void row(std::int64_t number, std::span<double> out) {
        evaluate({Want::Dense, Rows{&number, 1}}, out);
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
    Clocked& clocked_;
    std::vector<std::byte> bytes_;
};

std::string spelled(double number) {
    std::ostringstream text;
    text.precision(2);
    text << number;
    return text.str();
}

} // namespace

KernelSystem::KernelSystem(const Formula& product, const Formula& pair,
                           const Extents& shape,
                           std::span<const NamedView> arguments,
                           std::string_view side)
    : product_(product), pair_(pair) {
    for (const NamedView& argument : arguments)
        if (argument.name == side)
            side_ = argument;
        else
            arguments_.push_back(argument);
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
    const Bound bound = product_.bind(arguments);
    require_host(bound.location(), "solve");
    const DType result = bound.dtype();
    dtype_ = kind_of(result) == DTypeKind::Float ? result : DType::F64;
    working_ = is_narrow(result) ? DType::F32 : DType::F64;
}

std::vector<double> KernelSystem::side_values() const {
    const View& view = side_.view;
    std::vector<double> values;
    values.reserve(std::size_t(rows_ * columns_));
    const auto* data = static_cast<const char*>(view.data);
    for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t c = 0; c < columns_; ++c)
            values.push_back(element_at(
                data + i * view.strides[0] +
                    (view.shape.size() == 2 ? c * view.strides[1] : 0),
                view.dtype));
    return values;
}

Solution KernelSystem::solve(const SolveOptions& options,
                             const Poll& poll) const {
    check_options(options);
    Clocked clocked(poll, double(most_iterations(options, rows_)));
    PairTerm term(pair_, arguments_, clocked);
    const auto multiply = [&](DType dtype, const void* in, void* out) {
        std::vector<NamedView> all = arguments_;
        all.push_back({side_.name, View::of(in, dtype, shape()), {}});
        RunOptions run;
        run.poll = clocked.inside();
        product_.bind(all).run(Output::of(out, dtype, shape()), run);
        clocked.product_done();
        clocked.between();
    };
    Products matrix;
    matrix.size = rows_;
    matrix.product = [&](auto in, auto out) { multiply(DType::F64, in, out); };
    if (working_ == DType::F32)
        matrix.quick_product = [&](auto in, auto out) {
            multiply(DType::F32, in, out);
        };
    matrix.elements.diagonal = [&](auto out) { term.diagonal(out); };
    matrix.elements.row = [&](auto row, auto out) { term.row(row, out); };
    matrix.elements.epsilon = working_ == DType::F32
                                  ? std::numeric_limits<float>::epsilon()
                                  : std::numeric_limits<double>::epsilon();
    return tilefold::solve(matrix, side_values(), columns_, options);
}

void KernelSystem::store(const Solution& solution, const Output& out) const {
    for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t c = 0; c < columns_; ++c)
            store_element(solution.x[std::size_t(i * columns_ + c)], out.dtype,
                          static_cast<char*>(out.data) + i * out.strides[0] +
                              (out.shape.size() == 2 ? c * out.strides[1] : 0));
}

std::string KernelSystem::warning(const Solution& solution,
                                  const SolveOptions& options) const {
    const std::string iterations = std::to_string(solution.iterations),
                      residual = spelled(solution.largest_residual()),
                      rtol = spelled(options.rtol);
    const bool single = working_ == DType::F32;
    switch (solution.worst()) {
    case Outcome::Converged:
        return "";
    case Outcome::Exhausted:
        return message_of(
            Code::SolveExhausted,
            {iterations, residual, rtol,
             solution.rank > 0 || options.method == Method::MinimalResiduals
                 ? "raise maxiter, ridge or rtol"
                 : "raise maxiter, ridge or rtol, or pass "
                   "preconditioner='cholesky'"});
    case Outcome::Stagnated:
        return message_of(
            Code::SolveStagnated,
            {iterations, residual, rtol, single ? "float32" : "float64",
             single ? "raise ridge or rtol, or pass float64 arrays"
                    : "raise ridge or rtol"});
    case Outcome::Indefinite:
        return message_of(Code::SolveIndefinite, {iterations, residual});
    case Outcome::NotFinite:
        return message_of(Code::SolveNotFinite, {iterations});
    }
    internal_error("an unknown outcome");
}

} // namespace tilefold
