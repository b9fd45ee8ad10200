// compiler/passes/orient.cpp - gives every graph rows on i and columns on j.

#include "compiler/ir/queries.h"
#include "compiler/passes/passes.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

/// How the axes of a graph are to be read.
struct Turn {
    bool swap = false;        ///< i and j exchange their names
    bool reduce_both = false; ///< reductions over one axis are over both
};

Graph turned(const Graph& graph, const Turn& turn) {
    Builder builder(graph.real);
    const auto made = builder.rebuild(graph, [&](Node node) {
        if (turn.swap)
            node = exchanged(node);
        if (node.op == Op::Reduce && turn.reduce_both)
            node.second = std::int64_t(Axes::IJ);
        return node;
    });
    return builder.finish(made[graph.result]);
}

Axes axes_of_all(const Graph& graph) {
    Axes axes = Axes::None;
    for (const Node& node : graph.nodes)
        axes = axes | node.type.axes;
    return axes;
}

bool keeps_lists(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return node.op == Op::Reduce && family_of(node) == MonoidFamily::List;
    });
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
    // The graph has points on one axis only and reduces over it: they are rows
    // of one column, or columns of one row.
    const bool is_of_points =
        reduced != Axes::None && reduced != Axes::IJ && contains(reduced, all);
    result.single_row = is_of_points && keeps_lists(graph);
    turn.reduce_both = is_of_points && !result.single_row;
    result.single_column =
        turn.reduce_both || (reduced == Axes::None && all != Axes::IJ);
    // What is reduced may be on no axis: its points are those of the reduction.
    result.swapped = turn.reduce_both       ? reduced == Axes::J
                     : result.single_column ? all == Axes::J
                                            : reduced == Axes::I;
    turn.swap = result.swapped;
    result.graph = turned(graph, turn);
    return result;
}

} // namespace tilefold::ir
