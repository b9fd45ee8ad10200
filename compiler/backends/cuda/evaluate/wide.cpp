// compiler/backends/cuda/evaluate/wide.cpp - finds sums of weighted vectors,
// and writes what their loops call.

#include "compiler/backends/cuda/evaluate/wide.h"

#include "compiler/backends/cuda/evaluate/product.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

constexpr std::int64_t least_wide = 8;

bool is_number(const Graph& graph, ValueId id) {
    return graph[id].type.rank == 0 && graph[id].type.dtype == DType::F32;
}

bool is_value(const Graph& graph, ValueId id) {
    const Type& type = graph[id].type;
    return type.axes == Axes::J && type.rank == 1 && type.dtype == DType::F32 &&
           type.rows >= least_wide && is_cheap(graph, id);
}

/// w_ij v_j of a sum's body, in either order. A weight on {j} alone has no
/// pairs: the body then is computed once a column.
std::optional<Wide> weighted(const Graph& graph, ValueId body) {
    const Node& node = graph[body];
    if (node.op != Op::Mul || node.type.axes != Axes::IJ)
        return std::nullopt;
    Wide wide;
    for (int first : {0, 1}) {
        wide.weight = node.operands[std::size_t(first)];
        wide.value = node.operands[std::size_t(1 - first)];
        if (is_number(graph, wide.weight) && is_value(graph, wide.value))
            return wide;
    }
    return std::nullopt;
}

std::optional<Wide> wide_at(const Graph& graph, ValueId reduce) {
    const Node& node = graph[reduce];
    if (Axes(node.second) != Axes::J || node.pairs != ir::Pairs::All)
        return std::nullopt;
    switch (ir::row_of(ir::Reduction(node.first)).monoid) {
    case ir::Monoid::Add:
        return weighted(graph, node.operands[0]);
    case ir::Monoid::SoftMax: {
        Wide wide;
        wide.weight = node.operands[0];
        wide.value = node.operands[1];
        wide.is_softmax = true;
        if (is_number(graph, wide.weight) && is_value(graph, wide.value))
            return wide;
        return std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<Wide> find_wide(const Graph& graph) {
    std::optional<Wide> found;
    if (graph.real != DType::F32 ||
        std::ranges::count(graph.nodes, Op::Reduce, &Node::op) != 1)
        return found;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Reduce)
            found = wide_at(graph, id);
    if (!found)
        return found;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Reduce)
            found->reduce = id;
    const ValueId user =
        found->is_softmax ? found->reduce : graph[found->reduce].operands[0];
    if (graph[found->reduce].type.dtype != DType::F32 ||
        is_read_by_pairs(graph, found->value, user))
        return std::nullopt;
    found->components = graph[found->value].type.rows;
    found->stored = stored_dtype(graph, found->value);
    return found;
}

void write_pair_weight(Writer& writer, const Graph& graph, const Wide& wide,
                       const Leaves& leaves) {
    const Signature signature{"float",
                              "pair_weight",
                              {{"Constants", By::Constant, "constants"},
                               {"Row", By::Constant, "row"},
                               {"Column", By::Constant, "column"},
                               {"int", By::Value, "k"},
                               {"float", By::Value, "product"}}};
    writer.comment("One pair: column `k` of the tile.");
    writer.function(signature, [&] {
        Values values(graph, writer, leaves);
        writer.give(as(Kind::Float, values.value(wide.weight)));
    });
}

} // namespace tilefold::cuda
