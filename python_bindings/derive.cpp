// python_bindings/derive.cpp - see derive.h.
//
// 1. The pair term keeps its meaning: names that take i or j only because no
//    subscript is written get one before anything is added.
// 2. Trees are built, never text: print() spells them.
#include "python_bindings/derive.h"

#include "formulas/diagnostic.h"
#include "formulas/parser.h"

#include <algorithm>

namespace tilefold::python {

namespace {

using ast::Kind;
using ast::Node;
using ast::NodeId;

/// Writes x as x_i where the formula reads it on i by convention or head.
class SpellRoles {
public:
    SpellRoles(ast::Formula& tree, std::span<const FreeName> names)
        : tree_(tree), names_(names) {}

    void run() {
        walk(tree_.root, nullptr);
        for (const ast::Definition& definition : tree_.definitions)
            walk(definition.body, &definition);
        tree_.head.reset();
    }

private:
    void walk(NodeId id, const ast::Definition* inside) {
        Node& node = tree_.nodes[id];
        if (node.kind == Kind::Name && !is_bound(node.name, inside))
            spell(node);
        for (NodeId child : node.children)
            walk(child, inside);
    }

    static bool is_bound(const std::string& name,
                         const ast::Definition* inside) {
        return inside &&
               std::find(inside->parameters.begin(), inside->parameters.end(),
                         name) != inside->parameters.end();
    }

    void spell(Node& node) {
        for (const FreeName& name : names_)
            if (name.name == node.name &&
                (name.axes == Axes::I || name.axes == Axes::J)) {
                node.kind = Kind::Variable;
                node.axes = ast::Axes(name.axes);
            }
    }

    ast::Formula& tree_;
    std::span<const FreeName> names_;
};

NodeId add(ast::Formula& tree, Node node) {
    tree.nodes.push_back(std::move(node));
    return NodeId(tree.nodes.size() - 1);
}

NodeId weighted(ast::Formula& tree, const Derivation& derivation) {
    if (derivation.weights.empty())
        return tree.root;
    Node weights;
    weights.kind = Kind::Variable;
    weights.name = derivation.weights;
    weights.axes = ast::Axes(derivation.axes);
    Node product;
    product.kind = Kind::Apply;
    product.name = "*";
    product.children = {tree.root, add(tree, std::move(weights))};
    return add(tree, std::move(product));
}

} // namespace

std::string derive(const Formula& pair, const Derivation& derivation) {
    ast::Formula tree = pair.tree();
    for (const Node& node : tree.nodes)
        if (node.kind == Kind::Reduce)
            fail(Code::KernelReduces, {tree.text, node.span});
    SpellRoles(tree, pair.names()).run();
    Node reduce;
    reduce.kind = Kind::Reduce;
    reduce.name = derivation.reduction;
    reduce.axes = ast::Axes(derivation.axes);
    reduce.children = {weighted(tree, derivation)};
    if (derivation.count) {
        Node count;
        count.value = double(derivation.count);
        reduce.children.push_back(add(tree, std::move(count)));
    }
    tree.root = add(tree, std::move(reduce));
    return print(tree);
}

std::string unused_name(const Formula& pair) {
    const ast::Formula& tree = pair.tree();
    auto used = [&](const std::string& name) {
        auto defined = [&](const auto& d) { return d.name == name; };
        auto named = [&](const Node& node) { return node.name == name; };
        return std::any_of(tree.nodes.begin(), tree.nodes.end(), named) ||
               std::any_of(tree.definitions.begin(), tree.definitions.end(),
                           defined);
    };
    std::string name = "b";
    for (int number = 1; used(name); ++number)
        name = "b" + std::to_string(number);
    return name;
}

} // namespace tilefold::python
