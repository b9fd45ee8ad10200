// compiler/ir/queries.cpp - see queries.h.

#include "compiler/ir/queries.h"

#include <algorithm>
#include <limits>

namespace tilefold::ir {

bool is_contraction(Op op) {
    if (!has_row(op))
        return false;
    switch (row_of(op).shape) {
    case ShapeRule::Contract:
    case ShapeRule::Contract1:
    case ShapeRule::MatVec:
    case ShapeRule::VecMat:
        return true;
    case ShapeRule::Elementwise:
    case ShapeRule::Cross:
    case ShapeRule::Outer:
    case ShapeRule::Gather:
        return false;
    }
    return false;
}

bool is_matrix_product(Op op) {
    return op == Op::MatVec || op == Op::VecMat;
}

std::size_t vector_operand(Op product) {
    return product == Op::MatVec ? 1 : 0;
}

std::int64_t component_of_matrix(const Graph& graph, const Node& submatrix,
                                 std::int64_t k) {
    const std::int64_t columns = graph[submatrix.operands[0]].type.columns;
    return submatrix.first + k / submatrix.third * columns +
           k % submatrix.third;
}

double start_of(Op contraction) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (contraction == Op::CompMax)
        return -infinity;
    return contraction == Op::CompMin ? infinity : 0;
}

MonoidFamily family_of(const Node& reduce) {
    return row_of(row_of(Reduction(reduce.first)).monoid).family;
}

std::size_t role_of(const Argument& argument) {
    return std::size_t(std::ranges::find(fold_arguments, argument.name) -
                       std::begin(fold_arguments));
}

std::int64_t terms_of(const Graph& graph, const Node& node) {
    const Type& first = graph[node.operands[0]].type;
    if (node.op == Op::MatVec)
        return first.columns;
    return first.rank == 0 ? 1 : first.rows;
}

std::pair<ValueId, ValueId> rows_first(const Graph& graph, const Node& node) {
    const auto [x, y] = std::pair(node.operands[0], node.operands[1]);
    return contains(graph[x].type.axes, Axes::I) ? std::pair(x, y)
                                                 : std::pair(y, x);
}

std::vector<ListPart> parts_of_list(const Graph& graph, ValueId list) {
    std::vector<ListPart> parts;
    std::vector<ValueId> left{list};
    for (std::int64_t first = 0; !left.empty();) {
        const ValueId id = left.back();
        left.pop_back();
        if (graph[id].op == Op::Concat &&
            graph[id].type.axes == graph[list].type.axes) {
            left.push_back(graph[id].operands[1]);
            left.push_back(graph[id].operands[0]);
            continue;
        }
        parts.push_back({id, first});
        first += std::max(graph[id].type.rows, 1);
    }
    return parts;
}

std::vector<int> count_readers(const Graph& graph) {
    std::vector<int> readers(graph.nodes.size());
    for (const Node& node : graph.nodes)
        for (ValueId operand : node.inputs())
            ++readers[operand];
    return readers;
}

std::vector<bool> after_reductions(const Graph& graph) {
    std::vector<bool> after(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        after[id] = graph[id].op == Op::Reduce ||
                    std::ranges::any_of(graph[id].inputs(), [&](ValueId input) {
                        return after[input];
                    });
    return after;
}

std::int32_t open_argument(const Graph& graph) {
    const auto place =
        std::ranges::find(graph.arguments, dynamic, &Argument::rows);
    return place == graph.arguments.end()
               ? -1
               : std::int32_t(place - graph.arguments.begin());
}

bool reads_index(const Graph& graph, ValueId value) {
    const std::vector<bool> below = reached(graph, std::span(&value, 1));
    for (ValueId k = 0; k <= value; ++k)
        if (below[k] && graph[k].op == Op::Index)
            return true;
    return false;
}

bool reduces(const Graph& graph) {
    return std::ranges::any_of(
        graph.nodes, [](const Node& node) { return node.op == Op::Reduce; });
}

bool folds_rows(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return node.op == Op::Reduce && Axes(node.second) == Axes::IJ;
    });
}

bool folds_points(const Graph& graph) {
    return folds_rows(graph) &&
           std::ranges::all_of(graph.nodes, [](const Node& node) {
               return node.op == Op::Reduce
                          ? Axes(node.second) == Axes::IJ
                          : !contains(node.type.axes, Axes::J);
           });
}

bool chooses_pairs(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return node.op == Op::Reduce && node.pairs != Pairs::All;
    });
}

} // namespace tilefold::ir
