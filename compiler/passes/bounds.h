// compiler/passes/bounds.h - masks of index symbols, and what is known of them
// in a tile of pairs: whether `where(abs(i - j) < w, …, 0)` is anything but 0
// there.
//
//  1. A mask is a condition outside of which the body of a reduction is the
//     reduction's identity: such pairs may be left out.
//  2. Bounds are those of interval arithmetic: Moore, Kearfott & Cloud,
//     Introduction to Interval Analysis (2009), chapter 2. Index arithmetic
//     is exact; what is rounded is widened by more than its rounding.
//  3. What cannot be bounded, as a comparison of data, may hold anywhere: so
//     it is with a NaN among the bounds, and where one may lie between them.
#pragma once

#include "compiler/ir/ir.h"

#include <optional>
#include <vector>

namespace tilefold {

/// Returns conditions that all hold at every pair that counts; there are none
/// if any pair may count.
std::vector<ir::ValueId> masks_of(const ir::Graph& graph,
                                  const ir::Node& reduction);

/// Bounds of a graph's values in a tile. An `Arithmetic` computes them, now
/// or in emitted code; it has the types Number (f64) and Truth, and
///   number(double)  read(id): a value on {}  lowest(axis), highest(axis)
///   add sub mul div min max neg abs floor: NaN of a NaN
///   less less_equal: false of a NaN; both either not_, truth
template <class Arithmetic> class Bounds {
public:
    using Number = typename Arithmetic::Number;
    using Truth = typename Arithmetic::Truth;

    Bounds(const ir::Graph& graph, Arithmetic& arithmetic)
        : graph_(graph), a_(arithmetic) {}

    /// Whether a pair of the tile may satisfy all of `conditions`.
    Truth may_hold(const std::vector<ir::ValueId>& conditions) {
        Truth all = a_.truth(true);
        for (ir::ValueId id : conditions)
            all = a_.both(all, condition(id).may);
        return all;
    }

private:
    struct Interval {
        Number low, high;
    };
    struct Condition {
        Truth may, must;
    };
    using Known = std::optional<Interval>;

    Condition unknown() { return {a_.truth(true), a_.truth(false)}; }
    Condition always(Truth holds) { return {holds, holds}; }

    Condition condition(ir::ValueId id) {
        using ir::Op;
        const ir::Node& node = graph_[id];
        if (node.op == Op::Constant)
            return always(a_.truth(node.value != 0));
        if (node.type.axes == Axes::None) // its operands may not be at hand
            return always(a_.less(a_.number(0), a_.read(id)));
        if (node.op == Op::And || node.op == Op::Or) {
            const Condition x = condition(node.operands[0]),
                            y = condition(node.operands[1]);
            if (node.op == Op::And)
                return {a_.both(x.may, y.may), a_.both(x.must, y.must)};
            return {a_.either(x.may, y.may), a_.either(x.must, y.must)};
        }
        if (node.op == Op::Not) {
            const Condition x = condition(node.operands[0]);
            return {a_.not_(x.must), a_.not_(x.may)};
        }
        const bool compares = node.op == Op::Less || node.op == Op::LessEqual ||
                              node.op == Op::Equal || node.op == Op::NotEqual;
        if (!compares)
            return unknown();
        const Known x = interval(node.operands[0]),
                    y = interval(node.operands[1]);
        return x && y ? comparison(node.op, *x, *y) : unknown();
    }

    /// A bound that is NaN leaves `may` true and `must` false.
    Condition comparison(ir::Op op, const Interval& x, const Interval& y) {
        using ir::Op;
        const auto not_less = [&](Number p, Number q) {
            return a_.not_(a_.less(p, q));
        };
        if (op == Op::Less)
            return {a_.not_(a_.less_equal(y.high, x.low)),
                    a_.less(x.high, y.low)};
        if (op == Op::LessEqual)
            return {not_less(y.high, x.low), a_.less_equal(x.high, y.low)};
        const Truth may =
            a_.both(not_less(y.high, x.low), not_less(x.high, y.low));
        const Truth must =
            a_.both(a_.less_equal(x.high, y.low), a_.less_equal(y.high, x.low));
        if (op == Op::Equal)
            return {may, must};
        return {a_.not_(must), a_.not_(may)};
    }

    /// Returns none where nothing is known of the value, or where it is
    /// computed in less than f64.
    Known interval(ir::ValueId id) {
        using ir::Op;
        const ir::Node& node = graph_[id];
        if (node.type.rank != 0)
            return std::nullopt;
        if (node.op == Op::Constant)
            return point(a_.number(node.value));
        if (node.type.dtype != DType::I64 && node.type.dtype != DType::F64)
            return std::nullopt;
        if (node.type.axes == Axes::None)
            return point(a_.read(id));
        if (node.op == Op::Index)
            return Interval{a_.lowest(node.type.axes),
                            a_.highest(node.type.axes)};
        const Known result = of_operands(node);
        return result && node.type.dtype == DType::F64 ? widened(*result)
                                                       : result;
    }

    Known of_operands(const ir::Node& node) {
        if (node.arity != 1 && node.arity != 2)
            return std::nullopt;
        const Known x = interval(node.operands[0]);
        if (!x || node.arity == 1)
            return x ? of_one(node.op, *x) : std::nullopt;
        const Known y = interval(node.operands[1]);
        if (!y)
            return std::nullopt;
        if (node.op == ir::Op::FloorDiv)
            return quotient(node, *x, *y);
        return of_two(node.op, *x, *y);
    }

    Known point(Number value) { return Interval{value, value}; }

    Known of_one(ir::Op op, const Interval& x) {
        using ir::Op;
        if (op == Op::Neg)
            return Interval{a_.neg(x.high), a_.neg(x.low)};
        if (op != Op::Abs)
            return std::nullopt;
        const Number zero = a_.number(0);
        return Interval{
            a_.max(zero, a_.max(x.low, a_.neg(x.high))),
            a_.max(a_.neg(x.low), x.high),
        };
    }

    Known of_two(ir::Op op, const Interval& x, const Interval& y) {
        using ir::Op;
        if (op == Op::Add)
            return Interval{a_.add(x.low, y.low), a_.add(x.high, y.high)};
        if (op == Op::Sub)
            return Interval{a_.sub(x.low, y.high), a_.sub(x.high, y.low)};
        if (op == Op::Minimum)
            return Interval{a_.min(x.low, y.low), a_.min(x.high, y.high)};
        if (op == Op::Maximum)
            return Interval{a_.max(x.low, y.low), a_.max(x.high, y.high)};
        return op == Op::Mul ? Known(product(x, y)) : std::nullopt;
    }

    /// Of whole numbers by one whole divisor: blocks of points, `i // 100`.
    /// Divided in f64 they are rounded down to the right number up to 2^52;
    /// beyond it, and of other divisors and 0, the bounds are NaN.
    Known quotient(const ir::Node& node, const Interval& x, const Interval& y) {
        if (!is_whole(node.operands[0]) ||
            graph_[node.operands[1]].type.axes != Axes::None)
            return std::nullopt;
        const Number divisor = y.low, zero = a_.number(0);
        const auto none_if = [&](Number positive) {
            const Number infinite = a_.div(positive, a_.number(0x1p-1074));
            return a_.sub(infinite, infinite);
        };
        const Number fits =
            a_.add(none_if(a_.sub(divisor, a_.floor(divisor))),
                   a_.sub(a_.div(divisor, divisor), a_.number(1)));
        const auto below = [&](Number bound) {
            const Number size = a_.add(a_.abs(bound), a_.abs(divisor));
            const Number beyond = a_.max(zero, a_.sub(size, a_.number(0x1p52)));
            return a_.add(a_.floor(a_.div(bound, divisor)),
                          a_.add(fits, none_if(beyond)));
        };
        const Number p = below(x.low), q = below(x.high);
        return Interval{a_.min(p, q), a_.max(p, q)};
    }

    /// Whether a value is a whole number at every pair.
    bool is_whole(ir::ValueId id) {
        using ir::Op;
        const ir::Node& node = graph_[id];
        if (node.type.dtype == DType::I64)
            return true;
        const bool stays = node.op == Op::Add || node.op == Op::Sub ||
                           node.op == Op::Mul || node.op == Op::Neg ||
                           node.op == Op::Abs || node.op == Op::Minimum ||
                           node.op == Op::Maximum;
        for (std::size_t k = 0; stays && k < node.arity; ++k)
            if (!is_whole(node.operands[k]))
                return false;
        return stays;
    }

    Interval product(const Interval& x, const Interval& y) {
        const Number p = a_.mul(x.low, y.low), q = a_.mul(x.low, y.high),
                     r = a_.mul(x.high, y.low), s = a_.mul(x.high, y.high);
        return {a_.min(a_.min(p, q), a_.min(r, s)),
                a_.max(a_.max(p, q), a_.max(r, s))};
    }

    /// Widens the bounds by more than the rounding of one operation. An
    /// infinite bound becomes NaN: between -inf and inf may lie a pair whose
    /// value is inf - inf, or 0 * inf.
    Interval widened(const Interval& x) {
        return {a_.sub(x.low, margin(x.low)), a_.add(x.high, margin(x.high))};
    }
    Number margin(Number bound) {
        return a_.add(a_.mul(a_.number(0x1p-50), a_.abs(bound)),
                      a_.sub(bound, bound));
    }

    const ir::Graph& graph_;
    Arithmetic& a_;
};

} // namespace tilefold
