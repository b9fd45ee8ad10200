// compiler/passes/exponents.cpp - finds uniform exponents, and fixes them.

#include "compiler/passes/exponents.h"

#include "compiler/ir/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilefold::ir {
namespace {

/// Whether value_of_exponent() can say what the node is, given its operands.
/// Whole numbers are exponents as far as a double holds them.
bool is_known_with_a_call(const Graph& graph, const Node& node) {
    const bool is_whole = node.type.dtype == DType::I64;
    if (node.type.axes != Axes::None || node.type.rank != 0 ||
        (!is_whole && node.type.dtype != DType::F64))
        return false;
    switch (node.op) {
    case Op::Argument:
    case Op::Literal:
    case Op::Constant:
        return true;
    case Op::Slice:
        return graph[node.operands[0]].op == Op::Argument &&
               graph[node.operands[0]].type.rank == 1;
    case Op::Neg:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
        return true;
    default:
        return !is_whole && is_elementwise(node.op);
    }
}

/// For each value, whether value_of_exponent() can say what it is.
std::vector<bool> known_with_a_call(const Graph& graph) {
    std::vector<bool> known;
    for (const Node& node : graph.nodes)
        known.push_back(is_known_with_a_call(graph, node) &&
                        (node.op == Op::Slice ||
                         std::ranges::all_of(node.inputs(), [&](ValueId input) {
                             return known[input];
                         })));
    return known;
}

} // namespace

std::vector<ValueId> uniform_exponents(const Graph& graph) {
    const std::vector<bool> known = known_with_a_call(graph);
    std::vector<ValueId> exponents;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::Pow || node.type.axes == Axes::None)
            continue;
        const ValueId exponent = node.operands[1];
        const bool is_new =
            std::ranges::find(exponents, exponent) == exponents.end();
        if (is_new && known[exponent] && graph[exponent].op != Op::Constant)
            exponents.push_back(exponent);
    }
    return exponents;
}

double value_of_exponent(const Graph& graph, ValueId exponent,
                         const ParameterReader& read) {
    const Node& node = graph[exponent];
    switch (node.op) {
    case Op::Argument:
        return read(std::size_t(node.first), 0);
    case Op::Slice:
        return read(std::size_t(graph[node.operands[0]].first), node.first);
    case Op::Literal:
        return (node.second < 0 ? -1 : 1) *
               graph.literals[std::size_t(node.first)];
    case Op::Constant:
        return node.value;
    default:
        std::array<double, 3> operands{};
        for (std::size_t k = 0; k < node.arity; ++k)
            operands[k] = value_of_exponent(graph, node.operands[k], read);
        return evaluate(node.op, operands.data());
    }
}

HalfExponent half_exponent(double exponent) {
    const double halves = 2 * exponent;
    const bool is_fixed = std::abs(exponent) <= largest_fixed_exponent &&
                          halves == std::floor(halves);
    return is_fixed ? HalfExponent(halves) : open_exponent;
}

Graph with_exponents(const Graph& graph, std::span<const ValueId> exponents,
                     std::span<const HalfExponent> fixed) {
    std::vector<HalfExponent> of_value(graph.nodes.size(), open_exponent);
    for (std::size_t k = 0; k < exponents.size(); ++k)
        of_value[exponents[k]] = fixed[k];
    Builder builder(graph.real);
    builder.adopt(graph);
    std::vector<ValueId> made;
    for (const Node& node : graph.nodes) {
        const HalfExponent halves = of_value[made.size()];
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        if (halves == open_exponent)
            made.push_back(builder.rebuild(node, operands));
        else if (node.type.dtype == DType::I64)
            made.push_back(builder.whole_constant(halves / 2.0));
        else
            made.push_back(builder.constant(halves / 2.0));
    }
    return builder.finish(made[graph.result]);
}

} // namespace tilefold::ir
