// formulas/tree.cpp - nodes of an AST, each counted.
#include "formulas/tree.h"

#include <algorithm>

namespace tilefold {

using ast::Kind;
using ast::Node;
using ast::NodeId;

NodeId TreeBuilder::add(Node node) {
    std::size_t size = 1;
    int height = 1;
    for (const NodeId child : node.children) {
        size += sizes_[child];
        height = std::max(height, heights_[child] + 1);
    }
    const Place place{formula_.text, node.span};
    if (size > most_nodes || formula_.nodes.size() >= most_nodes)
        fail(Code::TooManyNodes, place, {std::to_string(most_nodes)});
    if (height > deepest_tree)
        fail(Code::ChainTooLong, place, {std::to_string(deepest_tree)});
    sizes_.push_back(size);
    heights_.push_back(height);
    formula_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(formula_.nodes.size() - 1);
}

NodeId TreeBuilder::number(double value, Span span) {
    Node node;
    node.kind = Kind::Number;
    node.value = value;
    node.span = span;
    return add(std::move(node));
}

NodeId TreeBuilder::name(std::string name, Span span) {
    Node node;
    node.kind = Kind::Name;
    node.name = std::move(name);
    node.span = span;
    return add(std::move(node));
}

NodeId TreeBuilder::variable(std::string name, ast::Axes axes, Span span) {
    Node node;
    node.kind = Kind::Variable;
    node.axes = axes;
    node.name = std::move(name);
    node.span = span;
    return add(std::move(node));
}

NodeId TreeBuilder::apply(std::string_view operation,
                          std::vector<NodeId> operands, Span span) {
    Node node;
    node.kind = Kind::Apply;
    node.name = operation;
    node.children = std::move(operands);
    node.span = span;
    return add(std::move(node));
}

NodeId TreeBuilder::multiply_implicitly(NodeId left, NodeId right, Span span) {
    Node node;
    node.kind = Kind::Apply;
    node.implicit = true;
    node.name = "*";
    node.children = {left, right};
    node.span = span;
    return add(std::move(node));
}

NodeId TreeBuilder::cross(NodeId left, NodeId right, Span span) {
    Node node;
    node.kind = Kind::Apply;
    node.crosses = true;
    node.name = "*";
    node.children = {left, right};
    node.span = span;
    return add(std::move(node));
}

void TreeBuilder::mark_double_bars(NodeId norm, Span span) {
    formula_.nodes[norm].double_bars = true;
    formula_.nodes[norm].span = span;
}

} // namespace tilefold
