// compiler/passes/placement.cpp - split by axes, as kernels need it.

#include "compiler/passes/placement.h"

#include "compiler/ir/exact.h"
#include "compiler/passes/split.h"

#include <algorithm>
#include <functional>
#include <set>

namespace tilefold {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool is_leaf(const Node& node) {
    return node.op == Op::Argument || node.op == Op::Index;
}

void add_once(std::vector<ValueId>& list, ValueId id) {
    if (std::find(list.begin(), list.end(), id) == list.end())
        list.push_back(id);
}

/// The leaves on `axis` at or below `roots`, each once.
std::vector<ValueId> leaves_below(const Graph& graph,
                                  std::span<const ValueId> roots, Axes axis) {
    std::vector<ValueId> leaves;
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        const Node& node = graph[id];
        if (!seen.insert(id).second)
            return;
        if (is_leaf(node) && node.type.axes == axis)
            leaves.push_back(id);
        for (ValueId operand : node.inputs())
            if (contains(graph[operand].type.axes, axis))
                walk(operand);
    };
    std::ranges::for_each(roots, walk);
    return leaves;
}

/// Returns what pairs read of one axis: leaves, and what is computed ahead of
/// them.
Packed pack_of(const Graph& graph, const std::vector<ValueId>& crossing,
               Axes axis) {
    Packed packed;
    packed.crossing = crossing;
    for (ValueId id : crossing)
        if (!is_leaf(graph[id]))
            packed.computed.push_back(id);
    packed.leaves = leaves_below(graph, crossing, axis);
    return packed;
}

/// The values on {} that anything but prepare reads.
void place_constants(const Graph& graph, const Split& parts,
                     Placement& placement) {
    std::set<ValueId> on_call(parts.call.computed.begin(),
                              parts.call.computed.end());
    const auto place = [&](ValueId id) {
        const Op op = graph[id].op;
        if (!on_call.count(id) || op == Op::Constant || op == Op::Iota ||
            placement.constants.count(id) || placement.in_place.count(id))
            return;
        placement.constants[id] = placement.constants_size;
        placement.constants_size += components_of(graph[id].type);
    };
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (!on_call.count(id))
            for (ValueId operand : graph[id].inputs())
                place(operand);
    place(graph.result);
}

bool reads_elements(const Node& node) {
    return has_row(node.op) && row_of(node.op).shape == ir::ShapeRule::Gather;
}

} // namespace

std::set<ValueId> large_tables(const Graph& graph) {
    constexpr std::int64_t most_copied = 4096;
    std::set<ValueId> tables;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::Argument || node.type.axes != Axes::None)
            continue;
        const DType stored = graph.arguments[std::size_t(node.first)].dtype;
        if (components_of(node.type) > most_copied &&
            (stored == DType::F32 || stored == DType::F64))
            tables.insert(id);
    }
    tables.erase(graph.result);
    for (const Node& node : graph.nodes)
        for (std::size_t k = 0; k < node.arity; ++k)
            if (k > 0 || !reads_elements(node))
                tables.erase(node.operands[k]);
    return tables;
}

Placement place_values(const Graph& graph, bool whole_is_pair_term,
                       std::set<ValueId> in_place) {
    Split parts = split(graph);
    Placement placement;
    placement.in_place = std::move(in_place);
    std::vector<ValueId> terms;
    for (ValueId id : parts.pair)
        if (graph[id].op == Op::Reduce) {
            placement.reductions.push_back(id);
            const auto inputs = graph[id].inputs();
            terms.insert(terms.end(), inputs.begin(), inputs.end());
        }
    if (whole_is_pair_term) {
        const Axes axes = graph[graph.result].type.axes;
        terms.push_back(graph.result);
        if (axes == Axes::I)
            add_once(parts.row.crossing, graph.result);
        if (axes == Axes::J)
            add_once(parts.column.crossing, graph.result);
    }
    placement.rows = pack_of(graph, parts.row.crossing, Axes::I);
    placement.columns = pack_of(graph, parts.column.crossing, Axes::J);
    placement.raw_rows.leaves = leaves_below(graph, terms, Axes::I);
    placement.raw_columns.leaves = leaves_below(graph, terms, Axes::J);
    for (ValueId id : parts.finish)
        if (is_leaf(graph[id]))
            placement.epilogue.leaves.push_back(id);
    placement.exact = exact_constants(graph);
    place_constants(graph, parts, placement);
    if (graph.is_watched)
        placement.watched = watched_values(graph);
    return placement;
}

} // namespace tilefold
