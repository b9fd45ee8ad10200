// compiler/passes/simplify.cpp - rules that leave less to compute and the same
// result. None looks at a run-time literal's value.
//
// A rule is one line: what it matches (n is the node, its operands made
// already), then what takes its place. rewrite.h says how they are applied;
// in particular a replacement of another type is dropped, so that x * 1 stays
// where it converts x.

#include "compiler/ir/scalar.h"
#include "compiler/passes/exponents.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cstdlib>

namespace tilefold::ir {
namespace {

using R = Rewriter;

bool even(std::int64_t number) {
    return number % 2 == 0;
}

/// An operation on constants is a constant.
ValueId fold(R& r, const Node& n) {
    double operands[3] = {};
    if (n.type.rank != 0 || n.type.dtype != DType::F64)
        return no;
    for (std::size_t k = 0; k < n.arity; ++k) {
        if (!r.is(n.operands[k], Op::Constant))
            return no;
        operands[k] = r.node(n.operands[k]).value;
    }
    return r.constant(n.op == Op::IntPow
                          ? evaluate_int_pow(operands[0], n.first)
                          : evaluate(n.op, operands));
}

ValueId slice_of_concat(R& r, const Node& n) {
    const ValueId a = r.in(n.operands[0], 0), b = r.in(n.operands[0], 1);
    const std::int64_t middle = r.type(a).rows;
    const bool first = n.second <= middle, second = n.first >= middle;
    if (!first && !second)
        return no;
    const std::int64_t shift = first ? 0 : middle;
    const ValueId part = first ? a : b;
    if (r.type(part).rank == 0 && n.third)
        return part;
    return r.make_slice(part, n.first - shift, n.second - shift, n.third);
}

ValueId slice_of_slice(R& r, const Node& n) {
    const Node inner = r.node(n.operands[0]);
    return r.make_slice(inner.operands[0], inner.first + n.first,
                        inner.first + n.second, n.third);
}

/// A power of a constant exponent that is whole, or half of an odd number.
ValueId constant_power(R& r, const Node& n) {
    const ValueId base = n.operands[0], exponent = n.operands[1];
    const HalfExponent halves = r.is(exponent, Op::Constant)
                                    ? half_exponent(r.node(exponent).value)
                                    : open_exponent;
    if (halves == open_exponent)
        return no;
    const std::int64_t whole = halves / 2;
    if (halves % 2 == 0)
        return r.make_power(base, whole);
    const ValueId root = r.make(halves > 0 ? Op::Sqrt : Op::Rsqrt, {base});
    return whole == 0 ? root
                      : r.make(Op::Mul, {r.make_power(base, whole), root});
}

/// Returns the branch of a choice between equal constants, or different ones.
ValueId decided(R& r, const Node& n) {
    const Node condition = r.node(n.operands[0]);
    if (condition.op != Op::Equal ||
        !r.is(condition.operands[0], Op::Constant) ||
        !r.is(condition.operands[1], Op::Constant))
        return no;
    const bool holds = r.node(condition.operands[0]).value ==
                       r.node(condition.operands[1]).value;
    return n.operands[holds ? 1 : 2];
}

ValueId power_of_power(R& r, const Node& n) {
    constexpr std::int64_t largest = 64;
    const Node inner = r.node(n.operands[0]);
    const std::int64_t exponent = inner.first * n.first;
    return std::abs(exponent) <= largest
               ? r.make_power(inner.operands[0], exponent)
               : no;
}

#define RULE(condition, result)                                                \
    [](R& r, const Node& n) -> ValueId {                                       \
        const ValueId a = n.operands[0], b = n.operands[1];                    \
        (void)r, (void)a, (void)b;                                             \
        return (condition) ? (result) : no;                                    \
    }

// clang-format off
constexpr Rewriter::Entry simplifications[] = {
    {Op::Neg,     RULE(r.is(a, Op::Neg), r.in(a))},
    {Op::Neg,     RULE(r.is(a, Op::Sub), r.make(Op::Sub, {r.in(a, 1), r.in(a, 0)}))},
    {Op::Add,     RULE(r.is(b, Op::Neg), r.make(Op::Sub, {a, r.in(b)}))},
    {Op::Add,     RULE(r.is(a, Op::Neg), r.make(Op::Sub, {b, r.in(a)}))},
    {Op::Add,     RULE(r.is_constant(b, 0), a)},
    {Op::Add,     RULE(r.is_constant(a, 0), b)},
    {Op::Sub,     RULE(r.is(b, Op::Neg), r.make(Op::Add, {a, r.in(b)}))},
    {Op::Sub,     RULE(r.is_constant(b, 0), a)},
    {Op::Sub,     RULE(r.is_constant(a, 0), r.make(Op::Neg, {b}))},
    {Op::Mul,     RULE(r.is_constant(a, 1), b)},
    {Op::Mul,     RULE(r.is_constant(b, 1), a)},
    {Op::Mul,     RULE(r.is(a, Op::Neg) && r.is(b, Op::Neg), r.make(Op::Mul, {r.in(a), r.in(b)}))},
    {Op::Mul,     RULE(a == b, r.make_power(a, 2))},
    {Op::Div,     RULE(r.is_constant(b, 1), a)},
    {Op::Div,     RULE(r.is(a, Op::Neg) && r.is(b, Op::Neg), r.make(Op::Div, {r.in(a), r.in(b)}))},
    {Op::IntPow,  RULE(n.first == 1, a)},
    {Op::IntPow,  RULE(even(n.first) && (r.is(a, Op::Neg) || r.is(a, Op::Abs)), r.make_power(r.in(a), n.first))},
    {Op::IntPow,  RULE(even(n.first) && r.is(a, Op::Sqrt) && is_nonnegative(r.sign(r.in(a))), r.make_power(r.in(a), n.first / 2))},
    {Op::IntPow,  RULE(r.is(a, Op::IntPow), power_of_power(r, n))},
    {Op::Pow,     constant_power},
    {Op::Sqrt,    RULE(r.is(a, Op::IntPow) && r.node(a).first == 2, r.make(Op::Abs, {r.in(a)}))},
    {Op::Abs,     RULE(is_nonnegative(r.sign(a)), a)},
    {Op::Abs,     RULE(r.sign(a) == Sign::NonPositive, r.make(Op::Neg, {a}))},
    {Op::Abs,     RULE(r.is(a, Op::Neg), r.make(Op::Abs, {r.in(a)}))},
    {Op::Log,     RULE(r.is(a, Op::Exp), r.in(a))},
    {Op::Maximum, RULE(r.is_constant(b, 0) && is_nonnegative(r.sign(a)), a)},
    {Op::Maximum, RULE(a == b, a)},
    {Op::Minimum, RULE(a == b, a)},
    {Op::Not,     RULE(r.is(a, Op::Not), r.in(a))},
    {Op::And,     RULE(a == b, a)},
    {Op::Or,      RULE(a == b, a)},
    {Op::Where,   RULE(b == n.operands[2], b)},
    {Op::Where,   decided},
    {Op::SqNorm,  RULE(r.is(a, Op::Neg), r.make(Op::SqNorm, {r.in(a)}))},
    {Op::Slice,   RULE(r.type(a).rank == 1 && n.first == 0 && n.second == r.type(a).rows && !n.third, a)},
    {Op::Slice,   RULE(r.is(a, Op::Slice), slice_of_slice(r, n))},
    {Op::Slice,   RULE(r.is(a, Op::Concat), slice_of_concat(r, n))},
    {Op::Add, fold}, {Op::Sub, fold}, {Op::Neg, fold}, {Op::Mul, fold},
    {Op::Div, fold}, {Op::Sqrt, fold}, {Op::Exp, fold}, {Op::Log, fold},
    {Op::IntPow, fold}, {Op::Minimum, fold}, {Op::Maximum, fold},
};
// clang-format on
#undef RULE

} // namespace

std::span<const Rewriter::Entry> simplification_rules() {
    return simplifications;
}

Graph simplify(const Graph& graph) {
    return Rewriter(graph, {simplification_rules()}).run();
}

} // namespace tilefold::ir
