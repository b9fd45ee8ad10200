// compiler/backends/cuda/sites/bounded.cpp - bounds of squared distances.

#include "compiler/backends/cuda/sites/bounded.h"

#include "compiler/passes/rewrite.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

using ir::Node;
using ir::Op;
using ir::ValueId;
using R = ir::Rewriter;

/// With fewer components, a distance takes hardly longer than its bound.
constexpr std::int32_t least_bounded_components = 16;
/// A square is at most this, so that sums of squares are no infinities.
constexpr double largest_square = 0x1p126;
/// Rounded products below the normal numbers are off by less.
constexpr double lost = 0x1p-120;

/// Returns the roundings of the three sums, those of the distance itself, and
/// some, in units of |x|² + |y|².
double roundings(std::int32_t components) {
    return double(components + 32) * 0x1p-22;
}

bool is_long(const R& r, ValueId x, Axes axes) {
    const Type& type = r.type(x);
    return type.axes == axes && type.rank == 1 && type.dtype == DType::F32 &&
           type.rows >= least_bounded_components;
}

/// Returns a number no larger than |x|², and no infinity.
ValueId square(R& r, ValueId x) {
    const ValueId norm = r.make_plain(Op::SqNorm, {x});
    const ValueId share = r.constant(1 - roundings(r.type(x).rows));
    const ValueId less = r.make_plain(Op::Mul, {share, norm});
    const ValueId tiny = r.constant(lost);
    const ValueId least = r.make_plain(Op::Sub, {less, tiny});
    const ValueId most = r.constant(largest_square);
    return r.make_plain(Op::Minimum, {least, most});
}

ValueId with_bound(R& r, const Node& reduce) {
    const bool lists =
        row_of(ir::Reduction(reduce.first)).monoid == ir::Monoid::KMinimum &&
        !has_bound(reduce);
    const ValueId body = reduce.operands[0];
    if (!lists || !r.is(body, Op::SqDist))
        return ir::no_value;
    ValueId x = r.in(body, 0), y = r.in(body, 1);
    if (r.axes(x) == Axes::J)
        std::swap(x, y);
    if (!is_long(r, x, Axes::I) || !is_long(r, y, Axes::J))
        return ir::no_value;
    const ValueId of_x = square(r, x), of_y = square(r, y);
    const ValueId squares = r.make_plain(Op::Add, {of_x, of_y});
    const ValueId product = r.make_plain(Op::Dot, {x, y});
    const ValueId two = r.constant(2);
    const ValueId twice = r.make_plain(Op::Mul, {two, product});
    Node bounded = reduce;
    bounded.operands[1] = r.make_plain(Op::Sub, {squares, twice});
    bounded.arity = 2;
    return r.make(bounded);
}

constexpr R::Entry rules[] = {{Op::Reduce, with_bound}};

} // namespace

ir::Graph bounded(const ir::Graph& graph) {
    const auto reductions =
        std::ranges::count(graph.nodes, Op::Reduce, &Node::op);
    if (reductions != 1 || graph.real != DType::F32)
        return graph;
    return R(graph, {rules}).run();
}

} // namespace tilefold::cuda
