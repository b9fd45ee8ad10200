// compiler/explain.cpp - the stages of a formula as text.

#include "compiler/ir/text.h"
#include "compiler/passes/bounds.h"
#include "compiler/passes/split.h"
#include "compiler/pipeline.h"
#include "formulas/readings.h"

#include <charconv>

namespace tilefold {
namespace {

using ast::Formula;
using ast::Kind;
using ast::NodeId;

/// The formula as it was read, then each argument with its role and shape.
std::string reading(const Formula& formula, const ir::Graph& graph) {
    std::string text = print_readings(formula) + "\n";
    for (const ir::Argument& argument : graph.arguments) {
        const Type type{argument.dtype, argument.rank, argument.axes,
                        argument.rows, argument.columns};
        text += "  " + argument.name + ": " + spelling_of(type) + "\n";
    }
    return text;
}

std::string number(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string label(const ast::Node& node) {
    const std::string axes(spelling_of(Axes(std::uint8_t(node.axes))));
    switch (node.kind) {
    case Kind::Number:
        return "number " + number(node.value);
    case Kind::Name:
        return "name " + node.name;
    case Kind::Variable:
        return "variable " + node.name + " on " + axes;
    case Kind::Index:
        return "index " + axes;
    case Kind::Apply:
        return "apply " + node.name;
    case Kind::Subscript:
        return "subscript";
    case Kind::List:
        return "list";
    case Kind::Function:
        return "function " + node.name;
    case Kind::Reduce:
        return "reduce " + node.name + " over " + axes;
    }
    internal_error("an AST node without a kind");
}

/// Prints one line for each node, children indented below it.
std::string tree(const Formula& formula, NodeId root) {
    std::string text;
    std::vector<std::pair<NodeId, std::size_t>> path{{root, 0}};
    while (!path.empty()) {
        const auto [id, depth] = path.back();
        path.pop_back();
        text.append(2 * depth, ' ').append(label(formula[id])).append("\n");
        const auto& children = formula[id].children;
        for (auto child = children.rbegin(); child != children.rend(); ++child)
            path.emplace_back(*child, depth + 1);
    }
    return text;
}

std::string trees(const Formula& formula) {
    std::string text = tree(formula, formula.root);
    for (const ast::Definition& definition : formula.definitions)
        text +=
            "with " + definition.name + "\n" + tree(formula, definition.body);
    return text;
}

/// Says by what tiles are left out.
std::string masks(const ir::Graph& graph) {
    std::string text;
    for (const ir::Node& node : graph.nodes) {
        if (node.op != ir::Op::Reduce)
            continue;
        const std::vector<ir::ValueId> found = masks_of(graph, node);
        if (found.empty())
            return "";
        for (ir::ValueId id : found)
            text += "tiles where " + ir::reference(id) +
                    " cannot hold are left out\n";
    }
    return text;
}

} // namespace

std::vector<ExplainSection> explain(const Formula& formula,
                                    std::span<const ArgumentType> arguments,
                                    Mode mode) {
    const ir::Graph built = build(formula, arguments, pairs_of(mode));
    return {
        {"reading", reading(formula, built)},
        {"ast", trees(formula)},
        {"ir", ir::print(built)},
    };
}

std::vector<ExplainSection> explain(const Program& program) {
    const ir::Graph& graph = program.graph();
    return {
        {"canonical ir", ir::print(graph)},
        {"split by axes", print(split(graph), graph) + masks(graph)},
    };
}

ExplainSection explain(std::span<const SweepPart> parts) {
    std::string text;
    for (const SweepPart& part : parts)
        text += part.name + " : " + spelling_of(part.type) + "\n";
    return {"leaves behind", std::move(text)};
}

} // namespace tilefold
