// compiler/passes/one_point.cpp - a formula for one point of an axis at a time.

#include "compiler/passes/passes.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

/// Whether the node is the same for one point as for that point among many.
bool is_for_one(const Graph& graph, const Node& node, Axes axis) {
    // Each lane would keep a list of its own, which lets far more values in
    // than one list of all points.
    if (node.op == Op::Reduce &&
        row_of(Reduction(node.first)).monoid == Monoid::KMinimum)
        return false;
    if (node.op == Op::Reduce)
        return Axes(node.second) == exchanged(axis) && node.pairs == Pairs::All;
    if (node.op == Op::Index)
        return node.type.axes != axis;
    if (node.op != Op::Argument)
        return true;
    const Argument& argument = graph.arguments[std::size_t(node.first)];
    return node.type.axes != Axes::IJ && argument.rows != dynamic;
}

} // namespace

std::optional<Graph> for_one_point(const Graph& graph, Axes axis) {
    const auto is_met = [&](const Node& node) {
        return node.arity == 0 && node.type.axes == exchanged(axis);
    };
    if (graph[graph.result].type.axes != axis ||
        std::ranges::none_of(graph.nodes, is_met) ||
        !std::ranges::all_of(graph.nodes, [&](const Node& node) {
            return is_for_one(graph, node, axis);
        }))
        return std::nullopt;
    Builder builder(graph.real);
    const auto made = builder.rebuild(graph, [&](Node node) {
        if (node.op == Op::Argument && node.type.axes == axis)
            node.type.axes = Axes::None;
        return node;
    });
    return builder.finish(made[graph.result]);
}

} // namespace tilefold::ir
