// compiler/passes/canonicalise.cpp - one spelling for one meaning, the one that
// leaves least to the pair term. Rules as in simplify.cpp, and these:
//
//  1. Products on {i,j} are put together by axes (products.h): a divisor on
//     fewer axes becomes a reciprocal, all factors on {} one scale. Not where
//     bits matter (Rewriter::is_value_exact): 49 * (1/49) is not 1.
//  2. exp(f) of a pair term is exp2(f * log2 e) where the factor costs nothing
//     because something absorbs it; else it stays, exact.
//  3. A factor that does not depend on the reduced axes leaves a sum.
//  4. Squared differences and products written by components become
//     contractions again: each sum of two neighbours is one over both.
//  5. Products of matrices leave the pair term: linear.cpp.

#include "compiler/passes/products.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <numbers>
#include <optional>

namespace tilefold::ir {
namespace {

using R = Rewriter;

ValueId ordered(R& r, const Node& n) {
    const ValueId a = n.operands[0], b = n.operands[1];
    return comes_before(r, b, a) ? r.make(n.op, {b, a}) : no;
}

/// Returns the factors of a * b or of a / b; of a negation, `b` is empty.
Factors combine(Factors a, Factors b, Op op) {
    if (op == Op::Div) {
        b.coefficient = 1 / b.coefficient;
        std::swap(b.numerators, b.denominators);
    }
    a.coefficient *= op == Op::Neg ? -1 : b.coefficient;
    for (auto part : {&Factors::numerators, &Factors::denominators})
        std::ranges::copy(b.*part, std::back_inserter(a.*part));
    return a;
}

/// Rewrites a/√u as a (1/√u), which needs no division.
void invert_roots(R& r, Factors& factors) {
    std::erase_if(factors.denominators, [&](ValueId divisor) {
        const ValueId inverse = with_root(r, divisor, Op::Sqrt, Op::Rsqrt);
        if (inverse != no)
            factors.numerators.push_back(inverse);
        return inverse != no;
    });
}

ValueId product(R& r, const Node& n) {
    if (n.type.axes != Axes::IJ || r.is_value_exact())
        return no;
    const Factors a = factors_of(r, n.operands[0], Axes::IJ);
    const Factors b =
        n.arity == 2 ? factors_of(r, n.operands[1], Axes::IJ) : Factors();
    Factors factors = combine(a, b, n.op);
    invert_roots(r, factors);
    return product_of(r, factors, Axes::IJ);
}

ValueId negative_power(R& r, const Node& n) {
    if (n.first >= 0 || r.is_value_exact())
        return no;
    const ValueId inverse = with_root(r, n.operands[0], Op::Sqrt, Op::Rsqrt);
    return inverse == no ? no : r.make_power(inverse, -n.first);
}

ValueId exponential(R& r, const Node& n) {
    const ValueId f = n.operands[0];
    const int most = distributes(r, f) ? 1 : 0;
    if (n.type.axes != Axes::IJ || cost_of_scaling(r, f) > most)
        return no;
    const ValueId log2e = r.constant(std::numbers::log2e);
    return r.make(Op::Exp2, {scaled(r, f, log2e)});
}

/// Moves the factors that `leaves` names from `inside` to the result.
template <typename Leaves> Factors move_out(Factors& inside, Leaves leaves) {
    Factors outside;
    std::swap(outside.coefficient, inside.coefficient);
    for (auto part : {&Factors::numerators, &Factors::denominators}) {
        std::ranges::copy_if(inside.*part, std::back_inserter(outside.*part),
                             leaves);
        std::erase_if(inside.*part, leaves);
    }
    return outside;
}

/// Rewrites sum_j c_i f_ij as c_i sum_j f_ij.
ValueId reduction(R& r, const Node& n) {
    const auto kind = Reduction(n.first);
    if ((kind != Reduction::Sum && kind != Reduction::Mean) ||
        r.is_value_exact())
        return no;
    const Axes kept = without(Axes::IJ, Axes(n.second));
    const Axes full = r.axes(n.operands[0]);
    if (contains(kept, full))
        return no;
    Factors inside = factors_of(r, n.operands[0], full, kept);
    Factors outside = move_out(
        inside, [&](ValueId id) { return contains(kept, r.axes(id)); });
    if (outside.size() == 0 && outside.coefficient == 1)
        return no;
    Axes rest = Axes::None;
    for (auto part : {&Factors::numerators, &Factors::denominators})
        for (ValueId id : inside.*part)
            rest = rest | r.axes(id);
    const ValueId body = product_of(r, inside, rest);
    if (r.type(body).dtype != r.type(n.operands[0]).dtype)
        return no; // it is as exact as it was, and no integers wrap
    outside.numerators.push_back(r.make_reduction(n, body));
    return product_of(r, outside, kept);
}

/// Components [first, last) of a contraction of x and y.
struct Segment {
    Op op; ///< SqDist, Dot, or SqNorm (of x)
    ValueId x, y;
    std::int64_t first, last;

    bool continues(const Segment& other) const {
        return op == other.op && x == other.x && y == other.y &&
               first == other.last;
    }
};

/// Returns the segment that two slices of the same components multiply.
std::optional<Segment> segment_of_slices(const R& r, Op op, ValueId a,
                                         ValueId b) {
    if (!r.is(a, Op::Slice) || !r.is(b, Op::Slice))
        return std::nullopt;
    const Node x = r.node(a), y = r.node(b);
    if (x.first != y.first || x.second != y.second)
        return std::nullopt;
    Segment segment{op, x.operands[0], y.operands[0], x.first, x.second};
    if (comes_before(r, segment.y, segment.x))
        std::swap(segment.x, segment.y);
    return segment;
}

std::optional<Segment> segment_of(const R& r, ValueId id) {
    const Node n = r.node(id);
    const ValueId a = n.operands[0], b = n.operands[1];
    if (n.op == Op::SqDist || n.op == Op::Dot)
        return segment_of_slices(r, n.op, a, b);
    if (n.op == Op::SqNorm)
        return segment_of_slices(r, n.op, a, a);
    if (n.op == Op::Mul && n.type.rank == 0)
        return segment_of_slices(r, Op::Dot, a, b);
    if (n.op != Op::IntPow || n.first != 2 || n.type.rank != 0)
        return std::nullopt;
    if (r.is(a, Op::Sub) && r.type(a).dtype == DType::I64)
        return std::nullopt; // exact, as differences of floats are
    return r.is(a, Op::Sub)
               ? segment_of_slices(r, Op::SqDist, r.in(a, 0), r.in(a, 1))
               : segment_of_slices(r, Op::SqNorm, a, a);
}

ValueId joined(R& r, const Node& n) {
    auto a = segment_of(r, n.operands[0]), b = segment_of(r, n.operands[1]);
    if (!a || !b)
        return no;
    if (a->continues(*b))
        std::swap(a, b);
    if (!b->continues(*a))
        return no;
    const ValueId x = r.make_slice(a->x, a->first, b->last, false);
    if (a->op == Op::SqNorm)
        return r.make(Op::SqNorm, {x});
    const ValueId y = r.make_slice(a->y, a->first, b->last, false);
    return r.make(a->op, {x, y});
}

/// Whether a difference of vectors may be taken of numbers that are rounded to
/// the computing dtype: one of 64-bit integers is exact.
bool is_difference(const R& r, ValueId id) {
    return r.is(id, Op::Sub) && r.type(id).dtype != DType::I64 &&
           r.type(r.in(id, 0)).rank == 1 && r.type(r.in(id, 1)).rank == 1;
}

/// Returns the power of two below |u|, which is an ordinary number.
ValueId octave(R& r, ValueId u) {
    const ValueId size = r.make(Op::Abs, {u});
    const ValueId power = r.make(Op::Floor, {r.make(Op::Log2, {size})});
    const double limit = r.graph().real == DType::F32 ? 120 : 1000;
    const ValueId least = r.constant(-limit), most = r.constant(limit);
    return r.make(
        Op::Exp2,
        {r.make(Op::Minimum, {r.make(Op::Maximum, {power, least}), most})});
}

/// Rewrites |u (x - y)|², u being known once a call, as (u/p)² |p x - p y|²
/// where p is a power of two: differences stay exact, and squares in range, if
/// they were, since u/p is about 1.
ValueId norm_of_product(R& r, const Node& n) {
    const ValueId u = r.in(n.operands[0], 0), v = r.in(n.operands[0], 1);
    if (r.type(u).rank != 0 || r.axes(u) != Axes::None ||
        !is_difference(r, v) || r.axes(v) != Axes::IJ)
        return no;
    const ValueId x = r.in(v, 0), y = r.in(v, 1);
    for (ValueId point : {x, y})
        if (r.axes(point) == Axes::IJ || r.type(point).dtype != r.graph().real)
            return no;
    const ValueId p = octave(r, u);
    const ValueId px = r.make(Op::Mul, {p, x}), py = r.make(Op::Mul, {p, y});
    const ValueId rest = r.make_power(r.make(Op::Div, {u, p}), 2);
    return r.make(Op::Mul,
                  {rest, r.make(Op::SqNorm, {r.make(Op::Sub, {px, py})})});
}

/// Rewrites √(u² f) as |u| √f.
ValueId root_of_product(R& r, const Node& n) {
    const ValueId u = r.in(n.operands[0], 0), f = r.in(n.operands[0], 1);
    if (!r.is(u, Op::IntPow) || r.node(u).first != 2 || r.axes(u) == Axes::IJ ||
        r.axes(f) != Axes::IJ)
        return no;
    return r.make(Op::Mul, {r.make(Op::Abs, {r.in(u)}), r.make(Op::Sqrt, {f})});
}

/// A pair's scalar leaves a contraction: (s u)·v = s (u·v).
ValueId linear(R& r, const Node& n) {
    for (std::size_t k = 0; k < n.arity; ++k) {
        const Node m = r.node(n.operands[k]);
        if (m.op != Op::Mul || m.type.axes != Axes::IJ ||
            r.type(m.operands[0]).rank != 0)
            continue;
        Node inner = n;
        inner.operands[k] = m.operands[1];
        return r.make(Op::Mul, {m.operands[0], r.make(inner)});
    }
    return no;
}

/// Rewrites where(c, u, 0) v as where(c, u v, 0) for a mask of indices: a pair
/// that it leaves out is not read.
ValueId masked(R& r, const Node& n) {
    for (std::size_t k = 0; k < n.arity; ++k) {
        const Node mask = r.node(n.operands[k]);
        if (mask.op != Op::Where || mask.type.axes != Axes::IJ ||
            (n.op == Op::Div && k == 1) ||
            !r.is_constant(mask.operands[2], 0) ||
            !r.is_of_indices(mask.operands[0]))
            continue;
        Node inner = n;
        inner.operands[k] = mask.operands[1];
        return r.make(Op::Where,
                      {mask.operands[0], r.make(inner), mask.operands[2]});
    }
    return no;
}

/// Rewrites where(p and q, u, e) as where(p, where(q, u, e), e), where p is a
/// mask of indices.
ValueId mask_first(R& r, const Node& n) {
    const ValueId c = n.operands[0];
    if (!r.is(c, Op::And) || r.is_of_indices(c))
        return no;
    for (std::size_t k = 0; k < 2; ++k) {
        const ValueId p = r.in(c, k), q = r.in(c, 1 - k);
        if (!r.is_of_indices(p))
            continue;
        Node inner = n;
        inner.operands[0] = q;
        return r.make(Op::Where, {p, r.make(inner), n.operands[2]});
    }
    return no;
}

bool are_vectors(const R& r, ValueId a, ValueId b) {
    return r.type(a).rank == 1 && r.type(b).rank == 1;
}

#define RULE(condition, result)                                                \
    [](R& r, const Node& n) -> ValueId {                                       \
        const ValueId a = n.operands[0], b = n.operands[1];                    \
        (void)a, (void)b;                                                      \
        return (condition) ? (result) : no;                                    \
    }
#define OPERANDS_ARE_VECTORS are_vectors(r, r.in(a, 0), r.in(a, 1))

// clang-format off
constexpr Rewriter::Entry shape_rules[] = {
    {Op::Dot,     RULE(a == b, r.make(Op::SqNorm, {a}))},
    {Op::SqNorm,  RULE(is_difference(r, a), r.make(Op::SqDist, {r.in(a, 0), r.in(a, 1)}))},
    {Op::SqNorm,  RULE(r.is(a, Op::Mul), norm_of_product(r, n))},
    {Op::Sqrt,    RULE(r.is(a, Op::Mul), root_of_product(r, n))},
    {Op::CompSum, RULE(r.is(a, Op::IntPow) && r.node(a).first == 2, r.make(Op::SqNorm, {r.in(a)}))},
    {Op::CompSum, RULE(r.is(a, Op::Mul) && OPERANDS_ARE_VECTORS, r.make(Op::Dot, {r.in(a, 0), r.in(a, 1)}))},
    {Op::CompSum, linear},
    {Op::Dot,     linear},
    {Op::MatVec,  linear},
    {Op::VecMat,  linear},
    {Op::Add,     joined},
    {Op::Mul,     masked},
    {Op::Div,     masked},
    {Op::Neg,     masked},
    {Op::Where,   mask_first},
};
constexpr Rewriter::Entry factor_rules[] = {
    {Op::Exp,     exponential},
    {Op::Mul,     product},
    {Op::Div,     product},
    {Op::Neg,     product},
    {Op::IntPow,  negative_power},
    {Op::Reduce,  reduction},
};
constexpr Rewriter::Entry order_rules[] = {
    {Op::Add, ordered},     {Op::Mul, ordered},     {Op::And, ordered},
    {Op::Minimum, ordered}, {Op::Maximum, ordered}, {Op::Or, ordered},
    {Op::Equal, ordered},   {Op::NotEqual, ordered},
    {Op::Dot, ordered},     {Op::SqDist, ordered},
};
// clang-format on
#undef OPERANDS_ARE_VECTORS
#undef RULE

} // namespace

Graph canonicalise(const Graph& graph) {
    return Rewriter(graph, {simplification_rules(), shape_rules, factor_rules,
                            linear_rules(), order_rules})
        .run();
}

Graph canonicalise_as_written(const Graph& graph) {
    return Rewriter(graph, {simplification_rules(), shape_rules, order_rules})
        .run();
}

} // namespace tilefold::ir
