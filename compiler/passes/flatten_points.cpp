// compiler/passes/flatten_points.cpp - components as points, where nothing
// tells them apart.

#include "compiler/passes/passes.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

/// A node on the axis that is the same for every component of vectors of
/// `width`.
bool is_by_component(const Node& node, std::int32_t width) {
    const bool is_vector = node.type.rank == 1 && node.type.rows == width;
    return is_vector && (node.op == Op::Argument || is_elementwise(node.op));
}

/// The sum of components that a graph adds up over all points; or no_value.
ValueId summed_components(const Graph& graph) {
    const Node& reduce = graph[graph.result];
    if (reduce.op != Op::Reduce || reduce.pairs != Pairs::All ||
        Reduction(reduce.first) != Reduction::Sum)
        return no_value;
    const ValueId body = reduce.operands[0];
    const Node& sum = graph[body];
    const bool is_on_it =
        sum.type.axes == Axes(reduce.second) && sum.type.axes != Axes::IJ;
    return is_on_it && sum.op == Op::CompSum ? body : no_value;
}

} // namespace

std::optional<FlatPoints> flatten_points(const Graph& graph) {
    const ValueId sum = summed_components(graph);
    if (sum == no_value)
        return std::nullopt;
    const Axes axis = graph[sum].type.axes;
    const std::int32_t width = graph[graph[sum].operands[0]].type.rows;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        const bool is_number =
            node.type.axes == Axes::None && node.type.rank == 0;
        if (id != sum && id != graph.result && !is_number &&
            !(node.type.axes == axis && is_by_component(node, width)))
            return std::nullopt;
    }
    if (width < 2)
        return std::nullopt;
    Graph flat = graph;
    for (Argument& argument : flat.arguments)
        if (argument.axes == axis) {
            argument.rank = 0;
            argument.rows = 1;
        }
    Builder builder(graph.real);
    builder.adopt(flat);
    std::vector<ValueId> made;
    for (ValueId id = 0; id < flat.nodes.size(); ++id) {
        const Node& node = flat[id];
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        made.push_back(id == sum ? operands[0]
                                 : builder.rebuild(node, operands));
    }
    // Integers of points, unlike those of components, are added in int64.
    if (builder.type(made[graph.result]) != graph[graph.result].type)
        return std::nullopt;
    return FlatPoints{builder.finish(made[graph.result]), width};
}

} // namespace tilefold::ir
