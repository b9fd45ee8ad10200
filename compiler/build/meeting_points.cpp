// compiler/build/meeting_points.cpp - g/r at r = 0, by l'Hôpital's rule.

#include "compiler/build/meeting_points.h"

#include "compiler/ir/broadcast.h"
#include "compiler/language/vocabulary.h"
#include "formulas/parser.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace tilefold {
namespace {

using ir::Builder;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::ValueId;

/// Whether an operation may be infinite, or NaN, where its operands are
/// numbers; `has_changed` says which of them are made anew.
template <class Changed>
bool may_be_infinite(const Node& node, const Changed& has_changed) {
    switch (node.op) {
    case Op::Constant:
        return !std::isfinite(node.value);
    case Op::Div:
    case Op::Mod:
    case Op::FloorDiv:
        return has_changed(node.operands[1]);
    case Op::IntPow:
        return node.first < 0;
    case Op::Pow:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
    case Op::Log1p:
    case Op::Rsqrt:
    case Op::Gamma:
    case Op::Lgamma:
    case Op::Polygamma:
    case Op::BesselY:
    case Op::BesselK:
        return true;
    default:
        return false;
    }
}

/// A value with another one in the place of one that it reads.
struct Replaced {
    ValueId value = no_value;
    bool is_finite = true; ///< certainly, as what it reads is
};

/// Returns `value` with `other` in place of `of`; what reductions give is held
/// fixed.
Replaced with_other(Builder& builder, ValueId value, ValueId of,
                    ValueId other) {
    const std::vector<bool> wanted =
        ir::reached(builder.graph(), std::span(&value, 1));
    Replaced result;
    std::vector<ValueId> made(value + 1);
    const auto has_changed = [&](ValueId id) { return made[id] != id; };
    for (ValueId id = 0; id <= value; ++id) {
        made[id] = id == of ? other : id;
        const Node node = builder[id];
        if (!wanted[id] || id <= of || node.op == Op::Reduce)
            continue;
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        if (std::ranges::equal(operands, node.inputs()))
            continue;
        made[id] = builder.rebuild(node, operands);
        const bool is_constant = builder[made[id]].op == Op::Constant;
        if (may_be_infinite(is_constant ? builder[made[id]] : node,
                            has_changed))
            result.is_finite = false;
    }
    result.value = made[value];
    return result;
}

/// The sum of the absolute values of the terms of which `value` is the sum.
class SizeOfTerms {
public:
    explicit SizeOfTerms(Builder& builder) : builder_(builder) {}

    ValueId of(ValueId value) {
        const auto [place, is_new] = sizes_.emplace(value, no_value);
        if (!is_new)
            return place->second;
        const ValueId size = make(builder_[value], value);
        return sizes_[value] = size;
    }

private:
    ValueId make(Node node, ValueId value) {
        const ValueId a = node.operands[0], b = node.operands[1];
        switch (node.op) {
        case Op::Add:
        case Op::Sub:
            return builder_.apply(Op::Add, {of(a), of(b)});
        case Op::Mul:
            return builder_.apply(Op::Mul, {of(a), of(b)});
        case Op::Div: // a sum in a divisor is no term
            return builder_.apply(Op::Div, {of(a), size(b)});
        case Op::Neg:
            return of(a);
        default:
            return size(value);
        }
    }
    ValueId size(ValueId value) { return builder_.apply(Op::Abs, {value}); }

    Builder& builder_;
    std::map<ValueId, ValueId> sizes_;
};

/// A formula of names that `bound` gives values.
struct Text {
    explicit Text(std::string_view text) : formula(parse(text, vocabulary())) {}
    ValueId operator()(Builder& builder, const Bindings& bound) const {
        return expand(builder, formula, bound);
    }
    ast::Formula formula;
};

/// Adds to `bound` the limit m of g/y, and r, up to which it is taken.
void add_limit(Builder& builder, Bindings& bound,
               const DerivativeAlong& derivative) {
    // A limit is off by the square of r beside the length on which g changes,
    // and g/r by the rounding of terms of g: about as much at this root.
    const bool is_single = builder.graph().real == DType::F32;
    static const Text exists("p <= t*q and abs(d) < inf"),
        limit("where(e, d, 0)"), radius("where(e, t*q*pinv(s), 0)"),
        // The slope may be infinite where there is no limit: a derivative of
        // what is not chosen, times 0, would be NaN. There it is taken where
        // points are apart, of an arbitrary distance.
        elsewhere("where(e, 0, 0.7310585786300049)");
    const ValueId g = bound.values.at("g"), y = bound.values.at("y");
    const Type type = builder.type(y);
    const ValueId zero =
        broadcast_or_reduce(builder, builder.constant(0), type);
    ValueId slope = derivative(g, y);
    if (slope == no_value)
        slope = zero;
    const ValueId at = with_other(builder, g, y, zero).value;
    const Replaced at_zero = with_other(builder, slope, y, zero);
    Bindings terms;
    terms.span = bound.span;
    terms.values = {
        {"p", builder.apply(Op::Abs, {at})},
        {"q", SizeOfTerms(builder).of(at)},
        {"d", at_zero.value},
        {"s", SizeOfTerms(builder).of(at_zero.value)},
        {"t", builder.constant(is_single ? 0x1p-12 : 0x1p-26)},
    };
    terms.values["e"] = exists(builder, terms);
    if (!at_zero.is_finite) {
        const ValueId apart =
            broadcast_or_reduce(builder, elsewhere(builder, terms), type);
        terms.values["d"] = with_other(builder, slope, y, apart).value;
    }
    bound.values["m"] = limit(builder, terms);
    bound.values["r"] = radius(builder, terms);
}

} // namespace

bool has_limit(ir::Op op) {
    return op == Op::Sqrt || op == Op::Abs;
}

ValueId slope_with_limit(Builder& builder, ir::Op op, Bindings bound,
                         const DerivativeAlong& derivative) {
    static const Text of_root("where(y <= r, m/2, g*pinv(2*y))"),
        of_size("where(y <= r, m*a, g*sign(a))");
    add_limit(builder, bound, derivative);
    return (op == Op::Sqrt ? of_root : of_size)(builder, bound);
}

} // namespace tilefold
