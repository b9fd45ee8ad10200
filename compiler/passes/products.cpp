// compiler/passes/products.cpp - products taken apart and put together by axes.

#include "compiler/passes/products.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tilefold::ir {
namespace {

/// Products of more factors are left as they are, so that shared parts cannot
/// multiply without end.
constexpr std::size_t most_factors = 16;
constexpr int deepest = 32;

bool is_product(Op op) {
    return op == Op::Mul || op == Op::Div || op == Op::Neg;
}

bool holds_constant(const Rewriter& r, const Node& node) {
    return std::ranges::any_of(
        node.inputs(), [&](ValueId id) { return r.is(id, Op::Constant); });
}

class Collector {
public:
    Collector(const Rewriter& rewriter, Axes full, std::optional<Axes> kept)
        : r_(rewriter), full_(full), kept_(kept) {}

    void add(ValueId value, bool below, int depth) {
        const Node node = r_.node(value);
        if (node.op == Op::Constant && take_constant(node.value, below))
            return;
        const bool opens =
            is_product(node.op) &&
            (node.type.axes == full_ || holds_constant(r_, node) ||
             (kept_ && !contains(*kept_, node.type.axes)));
        if (!opens || factors.size() >= most_factors || depth > deepest) {
            (below ? factors.denominators : factors.numerators)
                .push_back(value);
            return;
        }
        if (node.op == Op::Neg)
            factors.coefficient = -factors.coefficient;
        add(node.operands[0], below, depth + 1);
        if (node.arity == 2)
            add(node.operands[1], below != (node.op == Op::Div), depth + 1);
    }

    Factors factors;

private:
    /// Takes the constant only where the coefficient stays an ordinary number.
    bool take_constant(double value, bool below) {
        const double product =
            below ? factors.coefficient / value : factors.coefficient * value;
        if (!std::isnormal(product))
            return false;
        factors.coefficient = product;
        return true;
    }

    const Rewriter& r_;
    Axes full_;
    std::optional<Axes> kept_;
};

ValueId divide(Rewriter& r, ValueId a, ValueId b) {
    if (b == no_value)
        return a;
    return r.make_plain(Op::Div, {a == no_value ? r.constant(1) : a, b});
}

ValueId times(Rewriter& r, ValueId a, ValueId b) {
    if (a == no_value || b == no_value)
        return a == no_value ? b : a;
    if (r.is_constant(a, -1))
        return r.make_plain(Op::Neg, {b});
    return r.make_plain(Op::Mul, {a, b});
}

/// The factors of one rank, on the given axes.
struct Selection {
    std::vector<ValueId> numerators, denominators;
    bool empty() const { return numerators.empty() && denominators.empty(); }
};

Selection select(const Rewriter& r, const Factors& factors, Axes axes,
                 bool vectors) {
    const auto pick = [&](const std::vector<ValueId>& from) {
        std::vector<ValueId> some;
        for (ValueId id : from)
            if (r.axes(id) == axes && (r.type(id).rank == 1) == vectors)
                some.push_back(id);
        return some;
    };
    return {pick(factors.numerators), pick(factors.denominators)};
}

/// Returns what is computed once a call: coefficient * Π / Π.
ValueId once_a_call(Rewriter& r, const Factors& factors) {
    const Selection some = select(r, factors, Axes::None, false);
    const bool plain = factors.coefficient == 1;
    const ValueId scale = plain ? no_value : r.constant(factors.coefficient);
    const ValueId above = times(r, scale, multiply(r, some.numerators));
    return divide(r, above, multiply(r, some.denominators));
}

/// Returns the scalar factors; those on {} go along with a row's or a
/// column's.
ValueId scalar_part(Rewriter& r, const Factors& factors, Axes full) {
    ValueId carried = once_a_call(r, factors);
    if (full == Axes::None)
        return carried;
    ValueId part = no_value;
    for (Axes axes : {Axes::I, Axes::J}) {
        const Selection some = select(r, factors, axes, false);
        if (axes == full || some.empty())
            continue;
        const ValueId above = times(r, carried, multiply(r, some.numerators));
        carried = no_value;
        part = times(r, part, divide(r, above, multiply(r, some.denominators)));
    }
    part = times(r, carried, part);
    const Selection inner = select(r, factors, full, false);
    part = times(r, part, multiply(r, inner.numerators));
    return divide(r, part, multiply(r, inner.denominators));
}

/// The value that a power, or the value itself, is made of.
ValueId base_of(const Rewriter& r, ValueId id) {
    return r.is(id, Op::IntPow) ? r.in(id) : id;
}
std::int64_t exponent_of(const Rewriter& r, ValueId id) {
    return r.is(id, Op::IntPow) ? std::abs(r.node(id).first) : 1;
}

/// Takes out scalars of pairs that are several factors of a power of 3 or more,
/// as in d/r/r/r: r³ may leave the range where d/r, d/r/r and the result do
/// not. Returns them with their inverses in place of divisors.
std::vector<ValueId> take_repeated(Rewriter& r, Factors& factors, Axes full) {
    std::vector<ValueId> taken;
    for (auto part : {&Factors::numerators, &Factors::denominators}) {
        const std::vector<ValueId> values = factors.*part;
        const auto is_taken = [&](ValueId id) {
            std::int64_t count = 0, exponent = 0;
            for (ValueId other : values)
                if (base_of(r, other) == base_of(r, id)) {
                    ++count;
                    exponent += exponent_of(r, other);
                }
            return count >= 2 && exponent >= 3 && r.axes(id) == full &&
                   r.type(id).rank == 0;
        };
        for (ValueId id : values)
            if (is_taken(id))
                taken.push_back(part == &Factors::numerators
                                    ? id
                                    : divide(r, no_value, id));
        std::erase_if(factors.*part, is_taken);
    }
    return taken;
}

ValueId vector_part(Rewriter& r, const Factors& factors) {
    ValueId part = no_value;
    for (Axes axes : {Axes::None, Axes::I, Axes::J, Axes::IJ}) {
        const Selection some = select(r, factors, axes, true);
        part = times(r, part,
                     divide(r, multiply(r, some.numerators),
                            multiply(r, some.denominators)));
    }
    return part;
}

bool is_sum(const Rewriter& r, ValueId id) {
    return r.is(id, Op::Add) || r.is(id, Op::Sub);
}

/// Whether the value comes with a rounding error of its own, so that another
/// one, of a scale that is multiplied into it, adds little.
bool is_rounded(const Rewriter& r, ValueId id) {
    const Node node = r.node(id);
    if (node.op == Op::Neg || node.op == Op::Abs)
        return is_rounded(r, node.operands[0]);
    const bool multiplies = is_product(node.op) && !holds_constant(r, node);
    return r.axes(id) == Axes::IJ &&
           (multiplies || node.op == Op::IntPow ||
            (has_row(node.op) &&
             row_of(node.op).shape != ShapeRule::Elementwise));
}

/// How many terms of a sum are as exact as they came. Where two of them nearly
/// cancel, as in t_i - t_j, a scale that is rounded into each would show.
int exact_terms(const Rewriter& r, ValueId id) {
    return is_sum(r, id)
               ? exact_terms(r, r.in(id, 0)) + exact_terms(r, r.in(id, 1))
               : !is_rounded(r, id);
}

/// Whether nothing but a scale on {} and a sum of pair terms is multiplied.
bool is_scaled_sum(const Rewriter& r, const Factors& factors, ValueId& sum) {
    const auto on_call = [&](ValueId id) {
        return r.axes(id) == Axes::None && r.type(id).rank == 0;
    };
    sum = no_value;
    for (ValueId id : factors.numerators)
        if (!on_call(id)) {
            if (sum != no_value || !is_sum(r, id))
                return false;
            sum = id;
        }
    return sum != no_value &&
           std::ranges::all_of(factors.denominators, on_call);
}

} // namespace

bool comes_before(const Rewriter& rewriter, ValueId a, ValueId b) {
    const Axes left = rewriter.axes(a), right = rewriter.axes(b);
    return left == right ? a < b : left < right;
}

Factors factors_of(const Rewriter& rewriter, ValueId value, Axes full,
                   std::optional<Axes> kept) {
    Collector collector(rewriter, full, kept);
    collector.add(value, false, 0);
    return collector.factors;
}

ValueId multiply(Rewriter& rewriter, std::vector<ValueId> values) {
    std::ranges::sort(values, [&](ValueId a, ValueId b) {
        return comes_before(rewriter, a, b);
    });
    ValueId all = no_value;
    for (ValueId value : values)
        all = times(rewriter, all, value);
    return all;
}

ValueId product_of(Rewriter& rewriter, Factors factors, Axes full) {
    const std::vector<ValueId> repeated =
        full == Axes::IJ ? take_repeated(rewriter, factors, full)
                         : std::vector<ValueId>();
    const ValueId scalars = scalar_part(rewriter, factors, full);
    const ValueId vectors = vector_part(rewriter, factors);
    ValueId all = times(rewriter, scalars, vectors);
    for (ValueId factor : repeated)
        all = times(rewriter, all, factor);
    return all == no_value ? rewriter.constant(1) : all;
}

bool distributes(const Rewriter& rewriter, ValueId value, Sums sums) {
    return is_sum(rewriter, value) &&
           (sums == Sums::Rounded || exact_terms(rewriter, value) <= 1);
}

int cost_of_scaling(const Rewriter& rewriter, ValueId value, Sums sums,
                    int depth) {
    const Node node = rewriter.node(value);
    if (node.type.axes != Axes::IJ || node.op == Op::Neg)
        return 0;
    if (depth > 0 && distributes(rewriter, value, sums))
        return cost_of_scaling(rewriter, node.operands[0], sums, depth - 1) +
               cost_of_scaling(rewriter, node.operands[1], sums, depth - 1);
    const Factors factors = factors_of(rewriter, value, Axes::IJ);
    const auto absorbs = [&](ValueId id) {
        return rewriter.axes(id) != Axes::IJ && rewriter.type(id).rank == 0;
    };
    return factors.coefficient != 1 ||
                   std::ranges::any_of(factors.numerators, absorbs) ||
                   std::ranges::any_of(factors.denominators, absorbs)
               ? 0
               : 1;
}

ValueId scaled(Rewriter& rewriter, ValueId value, ValueId scale, Sums sums,
               int depth) {
    if (rewriter.axes(value) != Axes::IJ)
        return times(rewriter, scale, value);
    Factors factors = factors_of(rewriter, value, Axes::IJ);
    Factors scales = factors_of(rewriter, scale, Axes::IJ);
    ValueId sum = no_value;
    const bool into_terms = is_scaled_sum(rewriter, factors, sum) &&
                            depth > 0 && distributes(rewriter, sum, sums) &&
                            cost_of_scaling(rewriter, sum, sums, depth) <= 1;
    factors.coefficient *= scales.coefficient;
    std::ranges::copy(scales.numerators,
                      std::back_inserter(factors.numerators));
    std::ranges::copy(scales.denominators,
                      std::back_inserter(factors.denominators));
    if (!into_terms)
        return product_of(rewriter, factors, Axes::IJ);
    const ValueId whole = once_a_call(rewriter, factors);
    const Node node = rewriter.node(sum);
    const ValueId a =
        scaled(rewriter, node.operands[0], whole, sums, depth - 1);
    const ValueId b =
        scaled(rewriter, node.operands[1], whole, sums, depth - 1);
    return rewriter.make_plain(node.op, {a, b});
}

ValueId with_root(Rewriter& rewriter, ValueId value, Op from, Op to) {
    const Node power = rewriter.node(value);
    const bool is_power = power.op == Op::IntPow && power.first > 0;
    const ValueId root = is_power ? power.operands[0] : value;
    if (!rewriter.is(root, from) || rewriter.axes(root) != Axes::IJ)
        return no_value;
    const ValueId other = rewriter.make(to, {rewriter.in(root)});
    return is_power ? rewriter.make_power(other, power.first) : other;
}

} // namespace tilefold::ir
