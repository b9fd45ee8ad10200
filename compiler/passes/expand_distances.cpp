// compiler/passes/expand_distances.cpp - squared distances as inner products:
// |x - y|² = |x - c|² + |y - c|² - 2 (x - c)·(y - c).
//
// A pair is left with half the arithmetic, but the difference of two nearly
// equal numbers: its error is relative to |x - c|² + |y - c|², not to
// |x - y|². So this is done on request only, and c is a point of the data, that
// an offset which all points share costs no digits.
//
// For the same price A (x - y) = A (x - c) - A (y - c), whose products are made
// once a point.

#include "compiler/ir/queries.h"
#include "compiler/passes/products.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <limits>

namespace tilefold::ir {
namespace {

using R = Rewriter;

/// With fewer components, an exact distance takes hardly longer: 2 D + 10
/// operations of a Gaussian sum's pair against D + 12.
constexpr std::int32_t least_components = 8;

bool is_long(const Type& a, const Type& b) {
    return a.rank == 1 && b.rank == 1 && a.rows >= least_components &&
           a.dtype == DType::F32 && b.dtype == DType::F32;
}

/// The first point of an argument, without components that are not finite.
ValueId centre_of(R& r, ValueId argument) {
    const ValueId first = r.first_point(argument);
    const ValueId size = r.make_plain(Op::Abs, {first});
    const ValueId infinity =
        r.constant(std::numeric_limits<double>::infinity());
    const ValueId zero = r.constant(0);
    const ValueId finite = r.make_plain(Op::Less, {size, infinity});
    return r.make_plain(Op::Where, {finite, first, zero});
}

/// Returns one point of an argument, or of one that was scaled.
ValueId centre_of_points(R& r, ValueId points) {
    if (r.is(points, Op::Argument))
        return centre_of(r, points);
    if (!r.is(points, Op::Mul) || r.axes(r.in(points, 0)) != Axes::None ||
        !r.is(r.in(points, 1), Op::Argument))
        return no;
    const ValueId centre = centre_of(r, r.in(points, 1));
    return r.make_plain(Op::Mul, {r.in(points, 0), centre});
}

ValueId expanded(R& r, const Node& n) {
    const ValueId x = n.operands[0], y = n.operands[1];
    const bool crosses = r.axes(x) != Axes::IJ && r.axes(y) != Axes::IJ &&
                         n.type.axes == Axes::IJ;
    if (!crosses || !is_long(r.type(x), r.type(y)))
        return no;
    const ValueId of_y = centre_of_points(r, y);
    const ValueId centre = of_y == no ? centre_of_points(r, x) : of_y;
    if (centre == no)
        return no;
    const ValueId a = r.make_plain(Op::Sub, {x, centre});
    const ValueId b = r.make_plain(Op::Sub, {y, centre});
    const ValueId of_a = r.make_plain(Op::SqNorm, {a});
    const ValueId of_b = r.make_plain(Op::SqNorm, {b});
    const ValueId squares = r.make_plain(Op::Add, {of_a, of_b});
    const ValueId product = r.make_plain(Op::Dot, {a, b});
    const ValueId two = r.constant(2);
    const ValueId twice = r.make_plain(Op::Mul, {two, product});
    return r.make_plain(Op::Sub, {squares, twice});
}

/// Returns the expanded distance, but not below 0.
ValueId expanded_from_0(R& r, const Node& n) {
    const ValueId distance = expanded(r, n);
    if (distance == no)
        return no;
    const ValueId zero = r.constant(0);
    return r.make_plain(Op::Maximum, {distance, zero});
}

/// A scale of the sum moves into its terms, which then are made once a row and
/// once a column.
ValueId distributed(R& r, const Node& n) {
    const bool first = r.axes(n.operands[0]) == Axes::None;
    const ValueId scale = n.operands[first ? 0 : 1];
    const ValueId sum = n.operands[first ? 1 : 0];
    if (r.axes(scale) != Axes::None || !r.is(sum, Op::Sub) ||
        n.type.axes != Axes::IJ || cost_of_scaling(r, sum, Sums::Rounded) > 0)
        return no;
    return scaled(r, sum, scale, Sums::Rounded);
}

/// Returns the product of a difference as a difference of products.
ValueId product_of_difference(R& r, const Node& n) {
    const std::size_t place = vector_operand(n.op);
    const ValueId matrix = n.operands[1 - place];
    if (!r.is(n.operands[place], Op::Sub) || n.type.axes != Axes::IJ ||
        r.type(n.operands[place]).rows == dynamic)
        return no;
    const ValueId x = r.in(n.operands[place], 0);
    const ValueId y = r.in(n.operands[place], 1);
    const auto leaves = [&](ValueId point) {
        return r.type(point).rank == 1 && r.type(point).dtype == DType::F32 &&
               (r.axes(matrix) | r.axes(point)) != Axes::IJ;
    };
    const ValueId point = r.is(y, Op::Argument) ? y : x;
    if (!leaves(x) || !leaves(y) || !r.is(point, Op::Argument))
        return no;
    const ValueId centre = centre_of(r, point);
    const auto product = [&](ValueId of) {
        Node part = n;
        part.operands[place] = r.make_plain(Op::Sub, {of, centre});
        return r.make(part);
    };
    const ValueId of_x = product(x);
    const ValueId of_y = product(y);
    return r.make_plain(Op::Sub, {of_x, of_y});
}

/// Rewrites |u - v|² as what it is called.
ValueId norm_of_difference(R& r, const Node& n) {
    const ValueId difference = n.operands[0];
    if (!r.is(difference, Op::Sub) || r.type(r.in(difference, 0)).rank != 1 ||
        r.type(r.in(difference, 1)).rank != 1)
        return no;
    return r.make_plain(Op::SqDist, {r.in(difference, 0), r.in(difference, 1)});
}

constexpr Rewriter::Entry rules_of_differences[] = {
    {Op::MatVec, product_of_difference},
    {Op::VecMat, product_of_difference},
    {Op::SqNorm, norm_of_difference},
};
constexpr Rewriter::Entry expansions[] = {{Op::SqDist, expanded},
                                          {Op::Mul, distributed}};
constexpr Rewriter::Entry rules_from_0[] = {{Op::SqDist, expanded_from_0}};

/// Whether an operation is as good of a number a little below 0.
bool takes_any_sign(const Node& user) {
    switch (user.op) {
    case Op::Reduce: {
        return row_of(Reduction(user.first)).monoid == Monoid::Add ||
               family_of(user) == MonoidFamily::Exponential;
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
    case Op::Exp:
    case Op::Exp2:
        return true;
    default:
        return false;
    }
}

/// Whether all that is made of squared distances takes any sign.
bool take_any_sign(const Graph& graph) {
    std::vector<bool> below(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        const bool reads = std::ranges::any_of(
            node.inputs(), [&](ValueId input) { return below[input]; });
        if (reads && !takes_any_sign(node))
            return false;
        below[id] = node.op == Op::SqDist ||
                    (reads && node.op != Op::Reduce && node.op != Op::Exp &&
                     node.op != Op::Exp2);
    }
    return true;
}

} // namespace

Graph expand_differences(const Graph& graph) {
    return Rewriter(graph, {rules_of_differences}).run();
}

Graph expand_distances(const Graph& graph) {
    const std::span<const Rewriter::Entry> table =
        take_any_sign(graph) ? std::span<const Rewriter::Entry>(expansions)
                             : std::span<const Rewriter::Entry>(rules_from_0);
    return Rewriter(graph, {table}).run();
}

} // namespace tilefold::ir
