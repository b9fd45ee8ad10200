// compiler/orient.cpp - gives every graph rows on i and columns on j.

#include "compiler/passes.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

Axes exchanged(Axes axes) {
    if (axes == Axes::I)
        return Axes::J;
    return axes == Axes::J ? Axes::I : axes;
}

/// How the axes of a graph are to be read.
struct Turn {
    bool swap = false;        ///< i and j exchange their names
    bool reduce_both = false; ///< reductions over one axis are over both
};

Graph turned(const Graph& graph, const Turn& turn) {
    Builder builder(graph.real);
    builder.graph().arguments = graph.arguments;
    builder.graph().literals = graph.literals;
    std::vector<ValueId> made;
    for (Node node : graph.nodes) {
        if (turn.swap && node.arity == 0)
            node.type.axes = exchanged(node.type.axes);
        if (node.op == Op::Reduce && turn.swap)
            node.second = std::int64_t(exchanged(Axes(node.second)));
        if (node.op == Op::Reduce && turn.reduce_both)
            node.second = std::int64_t(Axes::IJ);
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        made.push_back(builder.rebuild(node, operands));
    }
    return builder.finish(made[graph.result]);
}

Axes axes_of_all(const Graph& graph) {
    Axes axes = Axes::None;
    for (const Node& node : graph.nodes)
        axes = axes | node.type.axes;
    return axes;
}

Axes reduced_axes(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::Reduce)
            return Axes(node.second);
    return Axes::None;
}

} // namespace

Oriented orient(const Graph& graph) {
    const Axes reduced = reduced_axes(graph), all = axes_of_all(graph);
    Turn turn;
    Oriented result;
    // Points on one axis only, reduced over it: they are rows of one column.
    turn.reduce_both =
        reduced != Axes::None && reduced != Axes::IJ && contains(reduced, all);
    result.single_column =
        turn.reduce_both || (reduced == Axes::None && all != Axes::IJ);
    result.swapped = result.single_column ? all == Axes::J : reduced == Axes::I;
    turn.swap = result.swapped;
    result.graph = turned(graph, turn);
    return result;
}

} // namespace tilefold::ir
