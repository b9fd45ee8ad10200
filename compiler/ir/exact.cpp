// compiler/ir/exact.cpp - values on {} that are not rounded.

#include "compiler/ir/exact.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool is_finer(const Graph& graph, DType dtype) {
    return dtype == DType::F64 && graph.real != DType::F64;
}

/// Of each value whether it depends on points: it is on an axis, or made of
/// what was reduced.
std::vector<bool> values_of_points(const Graph& graph) {
    std::vector<bool> found(graph.nodes.size());
    for (ValueId id = 0; id < ValueId(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        found[id] = node.op == Op::Reduce || node.type.axes != Axes::None ||
                    std::ranges::any_of(node.inputs(), [&](ValueId input) {
                        return found[input];
                    });
    }
    return found;
}

/// Whether the value is more exact than the computing dtype.
bool is_exact(const Graph& graph, ValueId id) {
    const DType dtype = graph[id].type.dtype;
    return dtype == DType::I64 || is_finer(graph, dtype);
}

bool takes_whole_numbers(const Node& node) {
    return has_row(node.op) &&
           (row_of(node.op).result == ir::ResultRule::Whole ||
            row_of(node.op).result == ir::ResultRule::Gathered);
}

/// Whether the node reads F64 operands as such, and does not round them.
bool reads_finer(const Graph& graph, const Node& node, bool is_read) {
    if (node.op == Op::Reduce)
        return is_finer(graph, node.type.dtype);
    if (node.type.dtype == DType::Bool) // of a comparison
        return graph.real != DType::F64;
    return is_read && is_finer(graph, node.type.dtype);
}

} // namespace

std::set<ValueId> exact_constants(const Graph& graph) {
    std::set<ValueId> exact;
    const std::vector<bool> of_points = values_of_points(graph);
    std::vector<bool> is_read(graph.nodes.size()); ///< as F64, of points
    const auto is_exact_point = [&](ValueId value) {
        return of_points[value] && is_exact(graph, value);
    };
    is_read[graph.result] = true;
    for (ValueId id = ValueId(graph.nodes.size()); id-- > 0;) {
        const Node& node = graph[id];
        const auto inputs = node.inputs();
        const bool reads = reads_finer(graph, node, is_read[id]);
        for (ValueId input : inputs)
            is_read[input] = is_read[input] || reads;
        const bool is_made =
            node.op == Op::Reduce ? reads : is_read[id] && is_exact_point(id);
        if (is_made || takes_whole_numbers(node) ||
            std::ranges::any_of(inputs, is_exact_point))
            exact.insert(inputs.begin(), inputs.end());
    }
    return exact;
}

} // namespace tilefold
