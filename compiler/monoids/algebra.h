// compiler/monoids/algebra.h - how terms go into the state of a reduction, how
// a later state goes into an earlier one, and what a state comes to. Loops,
// registers and memory are the backends'.
//
//  1. An Arithmetic computes, now or in emitted code. Its values know their
//     own dtype; a place holds one. It has
//       get(place)  set, add, multiply(place, value): integers wrap
//       extreme(largest, x, y): NaN if either is
//       beats(largest, x, best): strictly, or the first NaN
//       same(x, y): equal, or both NaN
//       sorts_before(x, y): NaN is above every number
//       comes_before(i, j): of indices, of which -1 (nowhere) is above all
//       is_nowhere(index)  are_some(terms)  both, either(p, q)
//       choice(p, x, y)  like(x, double): a number of x' dtype
//       set_where(p, place, x, …): each place, where p holds
//       let(name, value): computed once
//       average(sum, terms)  converted(dtype, x): as ops.def says, but to the
//         nearest integer where it is too large
//     and, for sums of exponentials,
//       larger(x, y): where either is NaN, NaN or y
//       weight(x, maximum): exp(x - maximum), 0 of -inf whatever the maximum
//       when_above(x, maximum, body): runs it if x is larger, or NaN.
//  2. An index that stands for nowhere is -1.
//  3. A merge needs the one that comes in to cover later columns or rows: ties
//     go to the lower index.
#pragma once

#include "compiler/ir/ir.h"

#include <limits>
#include <utility>

namespace tilefold {

/// A value and where it is, or the places of both.
template <class Value, class Index = Value> struct Found {
    Value value;
    Index index;
};

template <class Arithmetic> class Algebra {
public:
    Algebra(const ir::Node& reduce, Arithmetic arithmetic)
        : row_(ir::row_of(ir::Reduction(reduce.first))),
          dtype_(reduce.type.dtype), chooses_(reduce.pairs != ir::Pairs::All),
          a_(std::move(arithmetic)) {}

    /// Adds a term to the state of a sum, a product or an extreme, or merges
    /// two.
    void combine(auto&& into, const auto& x) const {
        switch (row_.monoid) {
        case ir::Monoid::Multiply:
            return a_.multiply(into, x);
        case ir::Monoid::Maximum:
        case ir::Monoid::Minimum:
            return a_.set(into, a_.extreme(is_largest(), a_.get(into), x));
        default:
            return a_.add(into, x);
        }
    }
    /// Returns what a sum, a product or an extreme of so many terms comes to.
    auto result(const auto& state, const auto& terms) const {
        return a_.converted(dtype_, row_.finish == ir::Finish::OverCount
                                        ? a_.average(state, terms)
                                        : state);
    }

    /// Whether x takes the place of the best so far, in argmax and argmin.
    auto beats(const auto& x, const auto& best) const {
        return a_.beats(is_largest(), x, best);
    }
    /// Takes a later value where it is better and `counts` holds too.
    void take(const auto& into, const auto& later, const auto& counts) const {
        const auto better = beats(later.value, a_.get(into.value));
        replace(into, a_.both(counts, better), later);
    }
    void replace(const auto& into, const auto& where, const auto& from) const {
        a_.set_where(where, into.value, from.value, into.index, from.index);
    }
    void merge(const auto& into, const auto& from) const {
        const auto x = a_.get(from.value), best = a_.get(into.value);
        const auto index = a_.get(from.index);
        const auto better = beats(x, best), equal = a_.same(x, best);
        const auto earlier = a_.comes_before(index, a_.get(into.index));
        replace(into,
                a_.let("better", a_.either(better, a_.both(equal, earlier))),
                Found{x, index});
    }
    /// Where pairs are chosen, the first that is met stands until a value
    /// beats the identity; a row that met no pair keeps nowhere.
    void keep_first(auto&& index, const auto& first) const {
        if (chooses_)
            a_.set_where(a_.is_nowhere(a_.get(index)), index, first);
    }
    /// Returns the index found. Where no value beat the identity, all are
    /// equal to it, and the first is returned.
    auto result_index(const auto& index, const auto& terms) const {
        if (chooses_)
            return index;
        const auto some = a_.are_some(terms), nowhere = a_.is_nowhere(index);
        return a_.choice(a_.both(some, nowhere), a_.like(index, 0), index);
    }

    /// Two sums that are relative to a maximum each become relative to the
    /// larger of the two; `into` and `from` are what they are multiplied by.
    template <class Value> struct Rescaling {
        Value maximum, into, from;
    };
    template <class Value>
    Rescaling<Value> rescaling(const Value& into, const Value& from) const {
        const Value maximum = a_.let("maximum", a_.larger(into, from));
        const Value of_into = a_.weight(into, maximum);
        return {maximum, of_into, a_.weight(from, maximum)};
    }
    /// Raises the maximum to a score, if the score is larger, and returns the
    /// weight of its term. `each_sum` calls what it is given with the place of
    /// each sum.
    auto weigh(auto&& maximum, const auto& score, const auto& each_sum) const {
        a_.when_above(score, a_.get(maximum), [&] {
            const auto shrink =
                a_.let("shrink", a_.weight(a_.get(maximum), score));
            a_.set(maximum, a_.larger(a_.get(maximum), score));
            each_sum([&](auto&& sum) { a_.multiply(sum, shrink); });
        });
        return a_.let("weight", a_.weight(score, a_.get(maximum)));
    }

    /// The list of the K smallest is sorted: numbers, NaN, empty places. Where
    /// what is held comes before what is at a place of the list, the two
    /// change places.
    void sink(const auto& held, const auto& at) const {
        const auto x = a_.get(held.value);
        const auto x_index = a_.get(held.index);
        const auto y = a_.get(at.value);
        const auto y_index = a_.get(at.index);
        const auto smaller = a_.sorts_before(x, y), equal = a_.same(x, y);
        const auto first = a_.either(
            smaller, a_.both(equal, a_.comes_before(x_index, y_index)));
        a_.set(at.value, a_.choice(first, x, y));
        a_.set(at.index, a_.choice(first, x_index, y_index));
        a_.set(held.value, a_.choice(first, y, x));
        a_.set(held.index, a_.choice(first, y_index, x_index));
    }
    /// Returns the value at a place of the list as the result has it: infinity
    /// where the place is empty.
    auto result_value(const auto& at) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const auto empty = a_.is_nowhere(a_.get(at.index));
        const auto value = a_.get(at.value);
        return a_.converted(dtype_,
                            a_.choice(empty, a_.like(value, infinity), value));
    }

    bool is_largest() const {
        return row_.monoid == ir::Monoid::Maximum ||
               row_.monoid == ir::Monoid::ArgMaximum;
    }

private:
    const ir::ReductionRow& row_;
    DType dtype_;
    bool chooses_;
    Arithmetic a_;
};

} // namespace tilefold
