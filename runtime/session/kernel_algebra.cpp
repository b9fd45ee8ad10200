// runtime/session/kernel_algebra.cpp - see kernel_algebra.h.
//
// 1. The pair term keeps its meaning: names that take i or j only because no
//    subscript is written get one before anything is added.
// 2. Trees are built, never text: print() spells them.
#include "runtime/session/kernel_algebra.h"

#include "formulas/printer.h"
#include "runtime/session/inspect.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace tilefold {

namespace {

using ast::Kind;
using ast::Node;
using ast::NodeId;

/// A parameter of the definition whose body it stands in.
bool is_bound(const std::string& name, const ast::Definition* inside) {
    return inside && std::ranges::count(inside->parameters, name) != 0;
}

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

ast::Formula spelled(const Formula& pair) {
    ast::Formula tree = tree_of(pair);
    SpellRoles(tree, pair.names()).run();
    return tree;
}

/// An argument, a parameter or a definition has the name.
bool is_used(const ast::Formula& tree, const std::string& name) {
    auto named = [&](const auto& part) { return part.name == name; };
    return std::any_of(tree.nodes.begin(), tree.nodes.end(), named) ||
           std::any_of(tree.definitions.begin(), tree.definitions.end(), named);
}

NodeId add(ast::Formula& tree, Node node) {
    tree.nodes.push_back(std::move(node));
    return NodeId(tree.nodes.size() - 1);
}

/// Gives the arguments and definitions of a tree other names.
class Rename {
public:
    Rename(ast::Formula& tree, const Renamed& names)
        : tree_(tree), names_(names) {}

    void run() {
        walk(tree_.root, nullptr);
        for (ast::Definition& definition : tree_.definitions) {
            walk(definition.body, &definition);
            rename(definition.name);
        }
    }

private:
    void rename(std::string& name) const {
        if (const auto found = names_.find(name); found != names_.end())
            name = found->second;
    }

    void walk(NodeId id, const ast::Definition* inside) {
        Node& node = tree_.nodes[id];
        const auto parameters =
            inside ? inside->parameters : std::vector<std::string>();
        const bool bound = std::find(parameters.begin(), parameters.end(),
                                     node.name) != parameters.end();
        if (!bound && seen_.insert(id).second)
            rename(node.name);
        for (NodeId child : node.children)
            walk(child, inside);
    }

    ast::Formula& tree_;
    const Renamed& names_;
    std::set<NodeId> seen_;
};

/// Names that `tree` gives to definitions and that `other` uses already.
Renamed clashing_definitions(const ast::Formula& tree,
                             const ast::Formula& other) {
    Renamed renamed;
    for (const ast::Definition& definition : tree.definitions) {
        std::string name = definition.name;
        if (!is_used(other, name))
            continue;
        for (int number = 2; is_used(other, name) || is_used(tree, name);
             ++number)
            name = definition.name + std::to_string(number);
        renamed[definition.name] = name;
    }
    return renamed;
}

/// `tree` with the nodes and definitions of `other`, which its own may use;
/// returns its root there.
NodeId adopt(ast::Formula& tree, ast::Formula other) {
    const auto offset = NodeId(tree.nodes.size());
    for (Node& node : other.nodes) {
        for (NodeId& child : node.children)
            child += offset;
        tree.nodes.push_back(std::move(node));
    }
    for (ast::Definition& definition : other.definitions)
        definition.body += offset;
    tree.definitions.insert(tree.definitions.begin(),
                            std::make_move_iterator(other.definitions.begin()),
                            std::make_move_iterator(other.definitions.end()));
    return other.root + offset;
}

/// Parts of a term that is written again wherever it stands.
constexpr std::size_t most_repeated = 8;

/// How often the first `count` nodes name it.
std::size_t uses_of(const ast::Formula& tree, std::size_t count,
                    const std::string& name) {
    return std::size_t(std::count_if(
        tree.nodes.begin(), tree.nodes.begin() + std::ptrdiff_t(count),
        [&](const Node& node) {
            return node.kind == Kind::Name && node.name == name;
        }));
}

/// The name, or the first with a number from `number` on that `tree` does not
/// use.
std::string free_name(const ast::Formula& tree, const std::string& wish,
                      int number) {
    std::string name = wish;
    for (; is_used(tree, name); ++number)
        name = wish + std::to_string(number);
    return name;
}

} // namespace

std::string substitute(const Formula& formula,
                       std::span<const Operand> operands) {
    ast::Formula tree = spelled(formula);
    const std::size_t own = tree.nodes.size();
    for (const Operand& operand : operands) {
        ast::Formula term = spelled(operand.pair);
        Rename(term, operand.renamed).run();
        Rename(term, clashing_definitions(term, tree)).run();
        Rename(tree, clashing_definitions(tree, term)).run();
        const std::size_t parts = term.nodes.size();
        const std::size_t definitions = term.definitions.size();
        const NodeId root = adopt(tree, std::move(term));
        // A long term that is read twice is a definition: again and again in
        // its place, products of products would double.
        if (parts > most_repeated && uses_of(tree, own, operand.name) > 1) {
            const std::string name = free_name(tree, "t", 2);
            Rename(tree, {{operand.name, name}}).run();
            const ast::Definition made{name, {}, false, root, {}};
            tree.definitions.insert(
                tree.definitions.begin() + std::ptrdiff_t(definitions), made);
            continue;
        }
        const auto meant = [&](NodeId id) {
            const Node& node = tree.nodes[id];
            return id < own && node.kind == Kind::Name &&
                           node.name == operand.name
                       ? root
                       : id;
        };
        for (std::size_t id = 0; id < own; ++id)
            for (NodeId& child : tree.nodes[id].children)
                child = meant(child);
        tree.root = meant(tree.root);
    }
    return print(tree);
}

std::string applied(const Formula& pair, const std::string& function) {
    ast::Formula tree = spelled(pair);
    Node call;
    call.kind = Kind::Apply;
    call.name = function;
    call.children = {tree.root};
    tree.root = add(tree, std::move(call));
    return print(tree);
}

bool reads_index(const Formula& pair, Axes axis) {
    return std::ranges::any_of(tree_of(pair).nodes, [&](const Node& node) {
        return node.kind == Kind::Index && node.axes == ast::Axes(axis);
    });
}

namespace {

Node named(Kind kind, const std::string& name, std::vector<NodeId> children) {
    Node node;
    node.kind = kind;
    node.name = name;
    node.children = std::move(children);
    return node;
}

/// What the index symbol `index` stands for on chosen rows.
Node number_of(ast::Formula& tree, const Node& index,
               const ChosenRows& chosen) {
    if (!chosen.list.empty()) {
        Node list = named(Kind::Variable, chosen.list, {});
        list.axes = index.axes;
        if (chosen.digits == 1)
            return list;
        const NodeId digits = add(tree, list);
        const auto digit = [&](int k) {
            Node found = named(Kind::Subscript, "", {digits});
            found.first = k;
            return found;
        };
        Node number = digit(chosen.digits - 1);
        for (int k = chosen.digits - 2; k >= 0; --k) {
            const NodeId above = add(tree, std::move(number));
            const NodeId base = add(tree, named(Kind::Name, chosen.base, {}));
            const NodeId product =
                add(tree, named(Kind::Apply, "*", {above, base}));
            number = named(Kind::Apply, "+", {product, add(tree, digit(k))});
        }
        return number;
    }
    const NodeId step = add(tree, named(Kind::Name, chosen.step, {}));
    const NodeId steps =
        add(tree, named(Kind::Apply, "*", {add(tree, index), step}));
    return named(Kind::Apply, "+",
                 {steps, add(tree, named(Kind::Name, chosen.start, {}))});
}

} // namespace

std::string select(const Formula& pair, Axes axis, const Renamed& renamed,
                   const ChosenRows& chosen) {
    ast::Formula tree = spelled(pair);
    const std::size_t count = tree.nodes.size();
    for (std::size_t id = 0; id < count; ++id) {
        Node node = tree.nodes[id];
        if (node.axes != ast::Axes(axis))
            continue;
        if (node.kind == Kind::Variable && renamed.contains(node.name))
            node.name = renamed.at(node.name);
        else if (node.kind == Kind::Index)
            node = number_of(tree, node, chosen);
        tree.nodes[id] = std::move(node);
    }
    return print(tree);
}

std::string with_axes(const Formula& pair, std::span<const FreeName> names) {
    ast::Formula tree = tree_of(pair);
    SpellRoles(tree, names).run();
    return print(tree);
}

std::string transpose(const Formula& pair) {
    ast::Formula tree = spelled(pair);
    for (Node& node : tree.nodes)
        if (node.kind == Kind::Variable || node.kind == Kind::Index) {
            if (node.axes == ast::Axes::I)
                node.axes = ast::Axes::J;
            else if (node.axes == ast::Axes::J)
                node.axes = ast::Axes::I;
        }
    return print(tree);
}

std::string diagonal(const Formula& pair) {
    ast::Formula tree = spelled(pair);
    for (Node& node : tree.nodes)
        if (node.kind == Kind::Variable || node.kind == Kind::Index)
            node.axes = ast::Axes::I;
    return print(tree);
}

std::string unused_name(const Formula& pair, const std::string& wish) {
    return free_name(tree_of(pair), wish, 1);
}

std::string with_numbers(const Formula& pair,
                         const std::map<std::string, double>& numbers) {
    ast::Formula tree = spelled(pair);
    std::vector<std::pair<NodeId, const ast::Definition*>> path = {
        {tree.root, nullptr}};
    for (const ast::Definition& definition : tree.definitions)
        path.emplace_back(definition.body, &definition);
    while (!path.empty()) {
        const auto [id, inside] = path.back();
        path.pop_back();
        Node& node = tree.nodes[id];
        const auto number = numbers.find(node.name);
        if (node.kind == Kind::Name && number != numbers.end() &&
            !is_bound(node.name, inside)) {
            node = Node{};
            node.value = number->second;
        }
        for (NodeId child : node.children)
            path.emplace_back(child, inside);
    }
    return print(tree);
}

} // namespace tilefold
