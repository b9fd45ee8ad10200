// compiler/backends/llvm/sites.cpp - split by axes.

#include "compiler/backends/llvm/sites.h"

#include "compiler/backends/llvm/evaluate.h"

#include <algorithm>

namespace tilefold::llvm_backend {
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

/// Adds the leaves on `axis` below `id`.
void add_leaves(const Graph& graph, ValueId id, Axes axis,
                std::vector<ValueId>& leaves) {
    const Node& node = graph[id];
    if (is_leaf(node)) {
        if (node.type.axes == axis)
            add_once(leaves, id);
        return;
    }
    for (ValueId operand : node.inputs())
        if (contains(graph[operand].type.axes, axis))
            add_leaves(graph, operand, axis, leaves);
}

/// A value on `axis` that a pair reads.
void add_crossing(const Graph& graph, ValueId id, Axes axis, Packed& packed) {
    if (!is_leaf(graph[id]))
        add_once(packed.computed, id);
    add_leaves(graph, id, axis, packed.leaves);
}

struct Finder {
    const Graph& graph;
    Sites sites;

    void note_constant(ValueId id) {
        const Node& node = graph[id];
        if (node.type.axes != Axes::None || sites.after[id] ||
            node.op == Op::Constant || sites.constants.count(id))
            return;
        sites.constants[id] = sites.constants_size;
        sites.constants_size += components_of(node.type);
    }

    /// `id` is read by a pair (or is a pair's whole term).
    void note_pair_operand(ValueId id) {
        const Axes axes = graph[id].type.axes;
        if (sites.after[id])
            return;
        if (axes == Axes::I)
            add_crossing(graph, id, Axes::I, sites.rows);
        if (axes == Axes::J)
            add_crossing(graph, id, Axes::J, sites.columns);
    }

    void note_pair_root(ValueId id) {
        note_pair_operand(id);
        note_constant(id);
        add_leaves(graph, id, Axes::I, sites.raw_rows.leaves);
        add_leaves(graph, id, Axes::J, sites.raw_columns.leaves);
    }

    void note_node(ValueId id) {
        const Node& node = graph[id];
        if (node.op == Op::Reduce)
            sites.reductions.push_back(id);
        note_exact(node);
        for (ValueId operand : node.inputs()) {
            if (node.type.axes != Axes::None || sites.after[id])
                note_constant(operand);
            if (node.op == Op::Reduce)
                note_pair_root(operand);
            else if (node.type.axes == Axes::IJ)
                note_pair_operand(operand);
            else if (sites.after[id] && !sites.after[operand])
                add_leaves(graph, operand, Axes::I, sites.epilogue.leaves);
        }
    }

    /// Constants beside an operand on an axis that is no real of the graph.
    void note_exact(const Node& node) {
        const auto is_exact = [&](ValueId id) {
            const Type& type = graph[id].type;
            return type.axes != Axes::None &&
                   (type.dtype == DType::I64 ||
                    (type.dtype == DType::F64 && graph.real != DType::F64));
        };
        const auto inputs = node.inputs();
        if (std::any_of(inputs.begin(), inputs.end(), is_exact))
            for (ValueId operand : inputs)
                if (graph[operand].type.dtype == DType::F64)
                    sites.exact.insert(operand);
    }

    void find_after() {
        sites.after.resize(graph.nodes.size());
        for (ValueId id = 0; id < graph.nodes.size(); ++id) {
            const Node& node = graph[id];
            bool after = node.op == Op::Reduce;
            for (ValueId operand : node.inputs())
                after |= sites.after[operand];
            sites.after[id] = after;
        }
    }
};

} // namespace

Sites find_sites(const Graph& graph, bool whole_is_pair_term) {
    Finder finder{graph, {}};
    finder.find_after();
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        finder.note_node(id);
    if (whole_is_pair_term)
        finder.note_pair_root(graph.result);
    return std::move(finder.sites);
}

} // namespace tilefold::llvm_backend
