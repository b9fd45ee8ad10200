// compiler/backends/reference/accumulator.cpp - reductions term by term. Sums
// are kept in long double, so that the oracle's rounding never matters.

#include "compiler/backends/reference/accumulator.h"

#include "compiler/ir/whole.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilefold::reference {
namespace {

using ir::Finish;
using ir::Monoid;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// NaN counts as larger than everything.
bool sorts_before(double a, double b) {
    return std::isnan(b) ? !std::isnan(a) : a < b;
}

} // namespace

Accumulator::Accumulator(const ir::Node& node, std::size_t components)
    : reduction_(ir::Reduction(node.first)), row_(ir::row_of(reduction_)),
      dtype_(node.type.dtype), k_(std::size_t(node.third)), wholes_(components),
      sums_(components), extremes_(components), fold_(node.fold) {
    if (fold_)
        accumulate_.emplace(fold_->accumulate);
    reset();
}

bool Accumulator::is_largest() const {
    return row_.monoid == Monoid::Maximum || row_.monoid == Monoid::ArgMaximum;
}

double Accumulator::identity() const {
    const bool largest = is_largest();
    if (dtype_ == DType::Bool || row_.result == ir::ReductionResult::Truth)
        return !largest;
    if (dtype_ == DType::I64 && row_.finish == Finish::Plain)
        return largest ? -0x1p63 : 0x1p63;
    return largest ? -infinity : infinity;
}

void Accumulator::reset(std::span<const double> initial,
                        std::span<const double> given) {
    count_ = 0;
    of_wholes_ = false;
    std::fill(wholes_.begin(), wholes_.end(),
              row_.monoid == Monoid::Add ? 0 : ir::saturated(identity()));
    std::fill(sums_.begin(), sums_.end(), row_.monoid == Monoid::Multiply);
    maximum_ = -infinity;
    weight_ = 0;
    std::fill(extremes_.begin(), extremes_.end(), Extreme{identity(), -1});
    smallest_.clear();
    if (!accumulate_)
        return;
    state_.assign(initial.begin(), initial.end());
    given_.assign(given.begin(), given.end());
}

void Accumulator::add(std::span<const double> first,
                      std::span<const double> second,
                      std::span<const std::int64_t> wholes,
                      std::int64_t index) {
    ++count_;
    if (dtype_ == DType::I64 && row_.finish == Finish::Plain && !wholes.empty())
        return add_wholes(wholes);
    switch (row_.monoid) {
    case Monoid::Add:
        for (std::size_t k = 0; k < sums_.size(); ++k)
            sums_[k] += first[k];
        return;
    case Monoid::Multiply:
        for (std::size_t k = 0; k < sums_.size(); ++k)
            sums_[k] *= first[k];
        return;
    case Monoid::Maximum:
    case Monoid::Minimum:
    case Monoid::ArgMaximum:
    case Monoid::ArgMinimum:
        for (std::size_t k = 0; k < extremes_.size(); ++k)
            add_extreme(extremes_[k], first[k], index);
        return;
    case Monoid::LogSumExp: {
        const double one = 1;
        add_exponential(first[0], second.empty() ? std::span(&one, 1) : second);
        return;
    }
    case Monoid::SoftMax:
        add_exponential(first[0], second);
        return;
    case Monoid::KMinimum:
        add_smallest(first[0], index);
        return;
    case Monoid::UserDefined:
        std::ranges::copy((*accumulate_)(state_, first, given_),
                          state_.begin());
        return;
    }
    internal_error("a monoid without a case");
}

/// Sums wrap, as those of kernels do.
void Accumulator::add_wholes(std::span<const std::int64_t> terms) {
    of_wholes_ = true;
    for (std::size_t k = 0; k < wholes_.size(); ++k)
        wholes_[k] = row_.monoid == Monoid::Add
                         ? std::int64_t(std::uint64_t(wholes_[k]) +
                                        std::uint64_t(terms[k]))
                     : is_largest() ? std::max(wholes_[k], terms[k])
                                    : std::min(wholes_[k], terms[k]);
}

/// The first NaN wins, then the first of equals.
void Accumulator::add_extreme(Extreme& extreme, double value,
                              std::int64_t index) const {
    const bool largest = is_largest();
    const bool beats = std::isnan(value) || (largest ? value > extreme.value
                                                     : value < extreme.value);
    if (extreme.index < 0 || (beats && !std::isnan(extreme.value)))
        extreme = {value, index};
}

/// Σ exp(score - maximum) values, rescaled when the maximum moves. A score of
/// -inf weighs 0 whatever the maximum.
void Accumulator::add_exponential(double score,
                                  std::span<const double> values) {
    if (score > maximum_ || std::isnan(score)) {
        const long double scale = std::isinf(maximum_) && maximum_ < 0
                                      ? 0
                                      : std::exp(maximum_ - score);
        maximum_ = score;
        weight_ *= scale;
        for (long double& sum : sums_)
            sum *= scale;
    }
    long double weight = std::exp((long double)(score)-maximum_);
    if (score == maximum_)
        weight = score == -infinity ? 0 : 1;
    weight_ += weight;
    for (std::size_t k = 0; k < sums_.size(); ++k)
        sums_[k] += weight * values[k];
}

void Accumulator::add_smallest(double value, std::int64_t index) {
    const auto place =
        std::find_if(smallest_.begin(), smallest_.end(), [&](const auto& kept) {
            return sorts_before(value, kept.first);
        });
    smallest_.insert(place, {value, index});
    if (smallest_.size() > k_)
        smallest_.pop_back();
}

void Accumulator::finish(std::span<double> result,
                         std::span<std::int64_t> wholes) const {
    for (std::size_t k = 0; k < result.size(); ++k) {
        result[k] = of_wholes_ ? double(wholes_[k]) : result_of(k);
        if (dtype_ == DType::I64)
            wholes[k] = of_wholes_ ? wholes_[k] : ir::saturated(result[k]);
    }
}

double Accumulator::result_of(std::size_t k) const {
    if (row_.monoid == Monoid::KMinimum) {
        const bool padding = k >= smallest_.size();
        return row_.finish == Finish::Indices
                   ? (padding ? -1 : double(smallest_[k].second))
                   : (padding ? infinity : smallest_[k].first);
    }
    if (row_.monoid == Monoid::UserDefined)
        return state_[k];
    const bool sums =
        row_.monoid == Monoid::Add || row_.monoid == Monoid::Multiply;
    switch (row_.finish) {
    case Finish::Plain:
        return sums ? double(sums_[k]) : extremes_[k].value;
    case Finish::OverCount:
        return double(sums_[k] / count_);
    case Finish::Logarithm:
        return double(maximum_ + std::log(sums_[k]));
    case Finish::OverWeight:
        return double(sums_[k] / weight_);
    case Finish::Indices:
        return double(extremes_[k].index);
    }
    internal_error("a finish without a case");
}

} // namespace tilefold::reference
