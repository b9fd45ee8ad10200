// compiler/passes/bounds.cpp - finds the masks of reductions.

#include "compiler/passes/bounds.h"

#include <cmath>
#include <limits>

namespace tilefold {

using ir::Graph;
using ir::Monoid;
using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// What a body may be without changing the reduction; NaN: nothing.
double identity_of(Monoid monoid) {
    switch (monoid) {
    case Monoid::Add:
        return 0;
    case Monoid::Maximum:
    case Monoid::LogSumExp:
    case Monoid::SoftMax:
        return -inf;
    case Monoid::Minimum:
        return inf;
    case Monoid::Multiply:
        return 1;
    case Monoid::ArgMaximum:
    case Monoid::ArgMinimum:
    case Monoid::KMinimum:
    case Monoid::UserDefined:
        return NAN; // of nothing else, such a pair would be the result
    }
    internal_error("a monoid without an identity");
}

bool reads_index(const Graph& graph, ValueId id) {
    const std::vector<bool> below = ir::reached(graph, std::span(&id, 1));
    for (ValueId k = 0; k <= id; ++k)
        if (below[k] && graph[k].op == Op::Index)
            return true;
    return false;
}

} // namespace

std::vector<ValueId> masks_of(const Graph& graph, const Node& reduction) {
    const Monoid monoid = row_of(ir::Reduction(reduction.first)).monoid;
    const double identity = identity_of(monoid);
    std::vector<ValueId> masks;
    ValueId body = reduction.operands[0];
    while (graph[body].op == Op::Where) {
        const Node& other = graph[graph[body].operands[2]];
        if (other.op != Op::Constant || other.value != identity)
            break;
        masks.push_back(graph[body].operands[0]);
        body = graph[body].operands[1];
    }
    const bool counts = monoid == Monoid::Add || monoid == Monoid::Maximum;
    if (counts && graph[body].type.dtype == DType::Bool)
        masks.push_back(body);
    std::erase_if(masks,
                  [&](ValueId mask) { return !reads_index(graph, mask); });
    return masks;
}

} // namespace tilefold
