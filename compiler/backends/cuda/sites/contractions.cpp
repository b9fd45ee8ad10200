// compiler/backends/cuda/sites/contractions.cpp - finds the product of a pair
// term, and sums of weighted vectors.

#include "compiler/backends/cuda/sites/contractions.h"

#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool is_pair(const Node& node) {
    return node.op == Op::Reduce || node.type.axes == Axes::IJ;
}

/// Whether a component of a vector costs no more than its own operations.
bool is_cheap(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    if (ir::is_contraction(node.op) || node.op == Op::Concat ||
        node.op == Op::Cross)
        return false;
    return std::ranges::all_of(node.inputs(), [&](ValueId input) {
        return graph[input].type.axes == Axes::None || is_cheap(graph, input);
    });
}

/// Whether the pair term or a reduction reads a value, other than for `but`.
bool is_read_by_pairs(const Graph& graph, ValueId id, ValueId but) {
    for (ValueId user = 0; user < graph.nodes.size(); ++user)
        if (user != but && is_pair(graph[user]) &&
            std::ranges::count(graph[user].inputs(), id))
            return true;
    return false;
}

/// Whether all that becomes of a value is a factor of an exponent.
bool ends_in_exponents(const Graph& graph, ValueId id) {
    for (ValueId user = 0; user < graph.nodes.size(); ++user) {
        const Node& node = graph[user];
        if (!std::ranges::count(node.inputs(), id))
            continue;
        if (node.op == Op::Exp || node.op == Op::Exp2)
            continue;
        const bool scales =
            node.op == Op::Mul && node.operands[0] != node.operands[1];
        if (!scales || !ends_in_exponents(graph, user))
            return false;
    }
    return true;
}

std::optional<Product> product_at(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    const bool meets = node.op == Op::Dot || node.op == Op::SqDist;
    if (!meets || node.type.axes != Axes::IJ || node.type.dtype != DType::F32)
        return std::nullopt;
    Product product;
    product.id = id;
    product.left = node.operands[0];
    product.right = node.operands[1];
    if (graph[product.left].type.axes == Axes::J)
        std::swap(product.left, product.right);
    const Type& left = graph[product.left].type;
    const Type& right = graph[product.right].type;
    const bool fits = left.axes == Axes::I && right.axes == Axes::J &&
                      left.rank == 1 && right.rank == 1 &&
                      left.dtype == DType::F32 && right.dtype == DType::F32;
    const bool alone = fits && !is_read_by_pairs(graph, product.left, id) &&
                       !is_read_by_pairs(graph, product.right, id);
    if (!alone || !is_cheap(graph, product.left) ||
        !is_cheap(graph, product.right))
        return std::nullopt;
    product.components = left.rows;
    product.is_distance = node.op == Op::SqDist;
    product.left_dtype = stored_dtype(graph, product.left);
    product.right_dtype = stored_dtype(graph, product.right);
    product.may_be_negative =
        !product.is_distance || ends_in_exponents(graph, id);
    return product;
}

constexpr std::int64_t least_wide = 8;

bool is_number(const Graph& graph, ValueId id) {
    return graph[id].type.rank == 0 && graph[id].type.dtype == DType::F32;
}

bool is_value(const Graph& graph, ValueId id) {
    const Type& type = graph[id].type;
    return type.axes == Axes::J && type.rank == 1 && type.dtype == DType::F32 &&
           type.rows >= least_wide && is_cheap(graph, id);
}

/// Finds w_ij v_j in a sum's body, in either order. A weight on {j} alone has
/// no pairs: the body then is computed once a column.
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

DType stored_dtype(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    return node.op == Op::Argument
               ? graph.arguments[std::size_t(node.first)].dtype
               : DType::F32;
}

std::optional<Product> find_product(const Graph& graph) {
    std::optional<Product> longest;
    if (graph.real != DType::F32)
        return longest;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const auto product = product_at(graph, id);
        if (product && (!longest || product->components > longest->components))
            longest = product;
    }
    return longest;
}

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

} // namespace tilefold::cuda
