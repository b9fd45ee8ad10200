// compiler/explain.cpp - the stages of a formula as text.

#include "compiler/ir/document.h"
#include "compiler/ir/text.h"
#include "compiler/passes/bounds.h"
#include "compiler/passes/split.h"
#include "compiler/pipeline.h"
#include "formulas/readings.h"

#include <charconv>
#include <nlohmann/json.hpp>

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

Document document_of(const Formula& formula, NodeId root) {
    Document made = {{"node", label(formula[root])}};
    made["children"] = Document::array();
    for (const NodeId child : formula[root].children)
        made["children"].push_back(document_of(formula, child));
    return made;
}

/// The tree of the formula, and those of its definitions.
Document document_of(const Formula& formula) {
    Document made = {{"tree", document_of(formula, formula.root)}};
    made["definitions"] = Document::array();
    for (const ast::Definition& definition : formula.definitions)
        made["definitions"].push_back(
            {{"name", definition.name},
             {"tree", document_of(formula, definition.body)}});
    return made;
}

Document document_of_reading(const Formula& formula, const ir::Graph& graph) {
    return {{"reading", print_readings(formula)},
            {"arguments", ir::document_of(graph)["arguments"]}};
}

/// The values of each site, and of these what the inner loop reads.
Document document_of_split(const ir::Graph& graph) {
    const Split sites = split(graph);
    const auto values = [](const Split::Values& of) {
        return Document{{"computed", of.computed}, {"crossing", of.crossing}};
    };
    Document made = {{"call", values(sites.call)},
                     {"row", values(sites.row)},
                     {"column", values(sites.column)},
                     {"pair", {{"computed", sites.pair}}},
                     {"after", {{"computed", sites.finish}}}};
    made["masks"] = Document::array();
    for (const ir::Node& node : graph.nodes)
        if (node.op == ir::Op::Reduce)
            for (const ir::ValueId mask : masks_of(graph, node))
                made["masks"].push_back(mask);
    return made;
}

Document document_of(const std::vector<SweepPart>& parts) {
    Document made = Document::array();
    for (const SweepPart& part : parts)
        made.push_back({{"name", part.name}, {"type", document_of(part.type)}});
    return made;
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
        {"reading", reading(formula, built),
         [=] { return document_of_reading(formula, built); }},
        {"ast", trees(formula), [=] { return document_of(formula); }},
        {"ir", ir::print(built), [=] { return ir::document_of(built); }},
    };
}

std::vector<ExplainSection> explain(const Program& program) {
    const ir::Graph& graph = program.graph();
    return {
        {"canonical ir", ir::print(graph),
         [=] { return ir::document_of(graph); }},
        {"split by axes", print(split(graph), graph) + masks(graph),
         [=] { return document_of_split(graph); }},
    };
}

ExplainSection explain(std::span<const SweepPart> parts) {
    std::string text;
    for (const SweepPart& part : parts)
        text += part.name + " : " + spelling_of(part.type) + "\n";
    return {"leaves behind", std::move(text),
            [all = std::vector(parts.begin(), parts.end())] {
                return document_of(all);
            }};
}

} // namespace tilefold
