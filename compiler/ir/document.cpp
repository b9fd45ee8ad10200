// compiler/ir/document.cpp - see document.h.

#include "compiler/ir/document.h"

#include "compiler/ir/queries.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tilefold {

Document document_of_length(std::int64_t components) {
    return components == dynamic ? Document(nullptr) : Document(components);
}

Document document_of(double number) {
    if (std::isnan(number))
        return "nan";
    if (std::isinf(number))
        return number < 0 ? "-inf" : "inf";
    return number;
}

Document document_of(const Type& type) {
    Document shape = Document::array();
    if (type.rank > 0)
        shape.push_back(document_of_length(type.rows));
    if (type.rank > 1)
        shape.push_back(document_of_length(type.columns));
    Document axes = Document::array();
    if (type.axes == Axes::I || type.axes == Axes::IJ)
        axes.push_back("i");
    if (type.axes == Axes::J || type.axes == Axes::IJ)
        axes.push_back("j");
    return {{"dtype", spelling_of(type.dtype)},
            {"shape", std::move(shape)},
            {"axes", std::move(axes)}};
}

namespace ir {
namespace {

/// What a node is beside its operation and its operands.
void add_attributes(Document& node_document, const Graph& graph,
                    const Node& node) {
    const auto add = [&](const char* name, const Document& value) {
        node_document[name] = value;
    };
    switch (node.op) {
    case Op::Argument:
        return add("argument", graph.arguments[std::size_t(node.first)].name);
    case Op::Literal:
        add("slot", node.first);
        return add("whole", node.second != 0);
    case Op::Constant:
        add("value", tilefold::document_of(node.value));
        return add("whole", node.second != 0);
    case Op::Iota:
        return add("length", node.first);
    case Op::IntPow:
        return add("exponent", node.first);
    case Op::Broadcast:
        return add("length", node.first);
    case Op::Slice:
        add("first", node.first);
        add("last", node.second);
        return add("scalar", node.third != 0);
    case Op::Submatrix:
        add("first", node.first);
        add("rows", node.second);
        return add("columns", node.third);
    case Op::Reduce: {
        const ReductionRow& row = row_of(Reduction(node.first));
        add("reduction", row.spelling);
        add("axis", tilefold::spelling_of(Axes(node.second)));
        add("pairs", spelling_of(node.pairs));
        if (row.monoid == Monoid::KMinimum)
            add("k", node.third);
        if (node.fold) {
            add("accumulate", document_of(node.fold->accumulate));
            add("merge", document_of(node.fold->merge));
        }
        return;
    }
    default:
        return;
    }
}

Document document_of(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    Document made = {{"id", id}, {"op", mnemonic(node.op)}};
    made["operands"] = Document::array();
    for (const ValueId operand : node.inputs())
        made["operands"].push_back(operand);
    add_attributes(made, graph, node);
    made["type"] = tilefold::document_of(node.type);
    return made;
}

} // namespace

Document document_of(const Graph& graph) {
    Document made = {{"dtype", tilefold::spelling_of(graph.real)},
                     {"watched", graph.is_watched}};
    made["arguments"] = Document::array();
    for (const Argument& argument : graph.arguments)
        made["arguments"].push_back(
            {{"name", argument.name},
             {"type", tilefold::document_of(Type{argument.dtype, argument.rank,
                                                 argument.axes, argument.rows,
                                                 argument.columns})}});
    made["literals"] = Document::array();
    for (const double literal : graph.literals)
        made["literals"].push_back(tilefold::document_of(literal));
    made["nodes"] = Document::array();
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        made["nodes"].push_back(document_of(graph, id));
    made["result"] = graph.result;
    return made;
}

} // namespace ir
} // namespace tilefold
