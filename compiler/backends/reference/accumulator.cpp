// compiler/backends/reference/accumulator.cpp - reductions term by term. Sums
// are kept in long double, so that the oracle's rounding never matters.

#include "compiler/backends/reference/accumulator.h"

#include "compiler/ir/integer.h"
#include "compiler/ir/queries.h"
#include "compiler/monoids/state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace tilefold::reference {
namespace {

using ir::Finish;
using ir::Monoid;
using ir::MonoidFamily;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The arithmetic of algebra.h on numbers, which computes at once.
struct NumberArithmetic {
    static auto get(auto x) { return x; }
    static void set(auto& place, auto x) { place = x; }
    static void add(long double& place, long double x) { place += x; }
    static void add(std::int64_t& place, std::int64_t x) {
        place = std::int64_t(std::uint64_t(place) + std::uint64_t(x));
    }
    static void multiply(auto& place, auto x) { place *= x; }
    static void set_where(bool holds, auto& place, auto x) {
        if (holds)
            place = x;
    }
    static void set_where(bool holds, auto& place, auto x, auto&&... more) {
        set_where(holds, place, x);
        set_where(holds, more...);
    }

    template <class T> static T extreme(bool largest, T x, T y) {
        return beats(largest, y, x) ? y : x;
    }
    static auto larger(auto x, auto y) { return extreme(true, x, y); }
    template <class T> static bool beats(bool largest, T x, T best) {
        return !is_nan(best) && (is_nan(x) || (largest ? x > best : x < best));
    }
    static bool same(auto x, auto y) {
        return x == y || (is_nan(x) && is_nan(y));
    }
    static bool sorts_before(auto x, auto y) {
        return x < y || (is_nan(y) && !is_nan(x));
    }
    static bool comes_before(std::int64_t i, std::int64_t j) {
        return std::uint64_t(i) < std::uint64_t(j);
    }
    static bool are_some(std::int64_t terms) { return terms > 0; }
    static bool is_nowhere(std::int64_t index) { return index < 0; }
    static bool both(bool p, bool q) { return p && q; }
    static bool either(bool p, bool q) { return p || q; }
    template <class T> static T choice(bool p, T x, T y) { return p ? x : y; }
    template <class T> static T like(T, double number) { return T(number); }
    static auto let(std::string_view, auto x) { return x; }
    static auto average(auto sum, std::int64_t terms) { return sum / terms; }
    static auto converted(DType, auto x) { return x; }

    static long double weight(long double x, long double maximum) {
        if (x == maximum)
            return x == -infinity ? 0 : 1;
        return std::exp(x - (maximum == -infinity ? 0 : maximum));
    }
    static void when_above(auto x, auto maximum, const auto& body) {
        if (beats(true, x, maximum))
            body();
    }

private:
    static bool is_nan(auto x) { return x != x; }
};

} // namespace

Accumulator::Accumulator(const ir::Node& node, std::size_t components)
    : node_(node), row_(ir::row_of(ir::Reduction(node.first))),
      wholes_(components), sums_(components), found_(components) {
    if (row_.monoid == Monoid::KMinimum)
        found_.resize(std::size_t(node.third));
    if (node.fold)
        accumulate_.emplace(node.fold->accumulate);
    reset();
}

void Accumulator::reset(std::span<const double> initial,
                        std::span<const double> given) {
    count_ = 0;
    of_wholes_ = false;
    const double identity =
        identity_of(row_.monoid, row_.result == ir::ReductionResult::Truth);
    const bool exponentials = family_of(node_) == MonoidFamily::Exponential;
    std::ranges::fill(wholes_, ir::saturated(identity));
    std::ranges::fill(sums_, exponentials ? 0 : identity);
    std::ranges::fill(found_, Found<double, std::int64_t>{identity, -1});
    maximum_ = -infinity;
    weight_ = 0;
    if (!accumulate_)
        return;
    state_.assign(initial.begin(), initial.end());
    given_.assign(given.begin(), given.end());
}

void Accumulator::add(std::span<const double> first,
                      std::span<const double> second,
                      std::span<const std::int64_t> wholes,
                      std::int64_t index) {
    const Algebra<NumberArithmetic> algebra(node_, {});
    ++count_;
    switch (family_of(node_)) {
    case MonoidFamily::Plain:
        of_wholes_ = node_.type.dtype == DType::I64 &&
                     row_.finish == Finish::Plain && !wholes.empty();
        for (std::size_t k = 0; k < sums_.size(); ++k)
            if (of_wholes_)
                algebra.combine(wholes_[k], wholes[k]);
            else
                algebra.combine(sums_[k], (long double)(first[k]));
        return;
    case MonoidFamily::Location:
        for (std::size_t k = 0; k < found_.size(); ++k) {
            Found<double&, std::int64_t&> best{found_[k].value,
                                               found_[k].index};
            algebra.take(best, Found{first[k], index}, true);
            algebra.keep_first(best.index, index);
        }
        return;
    case MonoidFamily::Exponential: {
        const bool has_no_weight = row_.monoid == Monoid::LogSumExp &&
                                   !second.empty() && second[0] == 0;
        const long double score =
            has_no_weight ? -std::numeric_limits<double>::infinity() : first[0];
        const long double weight =
            algebra.weigh(maximum_, score, [&](const auto& change) {
                change(weight_);
                std::ranges::for_each(sums_, change);
            });
        weight_ += weight;
        for (std::size_t k = 0; k < sums_.size(); ++k)
            sums_[k] += weight * (second.empty() ? 1 : second[k]);
        return;
    }
    case MonoidFamily::List: {
        double x = first[0];
        const Found<double&, std::int64_t&> held{x, index};
        for (auto& [value, where] : found_)
            algebra.sink(held, Found<double&, std::int64_t&>{value, where});
        return;
    }
    case MonoidFamily::UserDefined:
        std::ranges::copy((*accumulate_)(state_, first, given_),
                          state_.begin());
        return;
    }
    internal_error("a monoid without a case");
}

void Accumulator::finish(std::span<double> result,
                         std::span<std::int64_t> wholes) const {
    for (std::size_t k = 0; k < result.size(); ++k) {
        result[k] = result_of(k);
        if (node_.type.dtype != DType::I64)
            continue;
        wholes[k] = of_wholes_ ? wholes_[k] : ir::saturated(result[k]);
        result[k] = double(wholes[k]);
    }
}

double Accumulator::result_of(std::size_t k) const {
    const Algebra<NumberArithmetic> algebra(node_, {});
    if (row_.monoid == Monoid::UserDefined)
        return state_[k];
    switch (row_.finish) {
    case Finish::Plain:
        return row_.monoid == Monoid::KMinimum ? algebra.result_value(found_[k])
                                               : double(sums_[k]);
    case Finish::OverCount:
        return double(algebra.result(sums_[k], count_));
    case Finish::Logarithm:
        return double(maximum_ + std::log(sums_[k]));
    case Finish::OverWeight:
        return double(sums_[k] / weight_);
    case Finish::Indices:
        return double(row_.monoid == Monoid::KMinimum
                          ? found_[k].index
                          : algebra.result_index(found_[k].index, count_));
    }
    internal_error("a finish without a case");
}

} // namespace tilefold::reference
