// tests/formulas/random_tree.cpp - random formulas the parser can produce.
#include "tests/formulas/random_tree.h"

#include <iterator>

namespace tilefold::tests {

using ast::Kind;
using ast::Node;
using ast::NodeId;

int below(Random& random, int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
}

namespace {

template <std::size_t count>
const char* one_of(Random& random, const char* const (&names)[count]) {
    return names[below(random, static_cast<int>(count))];
}

class Grower {
public:
    explicit Grower(Random& random) : random_(random) {}

    ast::Formula grow(int depth);

private:
    NodeId any(int depth);
    NodeId leaf();
    NodeId apply(int depth);
    NodeId subscript(int depth);
    NodeId reduce(int depth);
    NodeId add(Node node);
    std::vector<NodeId> several(int count, int depth);
    int choose(int bound) { return below(random_, bound); }

    Random& random_;
    ast::Formula formula_;
    bool has_function_ = false;
    bool has_value_ = false;
};

NodeId Grower::add(Node node) {
    formula_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(formula_.nodes.size() - 1);
}

std::vector<NodeId> Grower::several(int count, int depth) {
    std::vector<NodeId> nodes;
    for (int index = 0; index < count; ++index)
        nodes.push_back(any(depth));
    return nodes;
}

NodeId Grower::leaf() {
    // Functions and reductions may also be the names of arguments.
    constexpr const char* names[] = {"l",    "sigma_f", "pi",  "max",
                                     "mean", "lambda",  "x_0", "e",
                                     "N",    "T",       "im"};
    constexpr const char* arrays[] = {"x", "y", "x_train", "b", "sum_of"};
    constexpr double values[] = {0, 1, 2, 0.5, 1e-7, 3e20, 64, 0.1};
    Node node;
    switch (choose(has_value_ ? 5 : 4)) {
    case 0:
        node.kind = Kind::Number;
        node.value = values[choose(std::size(values))];
        break;
    case 1:
        node.kind = Kind::Name;
        node.name = one_of(random_, names);
        break;
    case 2:
        node.kind = Kind::Variable;
        node.name = one_of(random_, arrays);
        node.axes = choose(2) == 0 ? ast::Axes::I : ast::Axes::J;
        break;
    case 3:
        node.kind = Kind::Index;
        node.axes = choose(2) == 0 ? ast::Axes::I : ast::Axes::J;
        break;
    default:
        node.kind = Kind::Name;
        node.name = "s";
    }
    return add(std::move(node));
}

NodeId Grower::apply(int depth) {
    constexpr const char* infix[] = {
        "+", "-", "*",  "*",  "/",  "/",  "mod", "·",  "@", "^",
        "<", ">", "<=", ">=", "==", "!=", "and", "or", "*", "⟨⟩",
    };
    constexpr const char* unary[] = {"neg", "not", "norm", "sqrt",
                                     "exp", "sin", "cos",  "ᵀ"};
    Node node;
    node.kind = Kind::Apply;
    switch (choose(has_function_ ? 5 : 4)) {
    case 0:
        node.name = one_of(random_, unary);
        node.children = several(1, depth);
        break;
    case 1:
        node.name = "*";
        node.implicit = true;
        node.children = several(2, depth);
        break;
    case 2:
        node.name = "where";
        node.children = several(3, depth);
        break;
    case 4:
        node.name = "k";
        node.children = several(2, depth);
        break;
    default:
        node.name = one_of(random_, infix);
        node.children = several(2, depth);
    }
    return add(std::move(node));
}

NodeId Grower::subscript(int depth) {
    Node node;
    node.kind = Kind::Subscript;
    node.children = several(1, depth);
    node.is_range = choose(2) == 0;
    if (!node.is_range || choose(2) == 0)
        node.first = choose(7) - 3;
    if (node.is_range && choose(2) == 0)
        node.last = choose(7) - 3;
    return add(std::move(node));
}

NodeId Grower::reduce(int depth) {
    constexpr const char* single[] = {"sum", "max", "mean", "logsumexp"};
    constexpr const char* pairs[] = {"softmax", "argkmin", "logsumexp"};
    constexpr ast::Axes axes[] = {ast::Axes::I, ast::Axes::J, ast::Axes::IJ};
    Node node;
    node.kind = Kind::Reduce;
    node.axes = axes[choose(3)];
    if (has_function_ && choose(8) == 0) {
        node.name = "fold";
        node.children = several(2, depth);
        Node function;
        function.kind = Kind::Function;
        function.name = "k";
        node.children.push_back(add(std::move(function)));
        return add(std::move(node));
    }
    const int count = 1 + choose(2);
    node.name = count == 1 ? one_of(random_, single) : one_of(random_, pairs);
    node.children = several(count, depth);
    return add(std::move(node));
}

NodeId Grower::any(int depth) {
    if (depth <= 0)
        return leaf();
    switch (choose(8)) {
    case 0:
        return leaf();
    case 1:
        return subscript(depth - 1);
    case 2:
        return reduce(depth - 1);
    case 3: {
        Node node;
        node.kind = Kind::List;
        node.children = several(1 + choose(3), depth - 1);
        return add(std::move(node));
    }
    default:
        return apply(depth - 1);
    }
}

ast::Formula Grower::grow(int depth) {
    if (choose(4) == 0) {
        const NodeId body = any(2);
        formula_.definitions.push_back({"k", {"u", "v"}, true, body, {}});
        has_function_ = true;
    }
    if (choose(4) == 0) {
        const NodeId body = any(2);
        formula_.definitions.push_back({"s", {}, false, body, {}});
        has_value_ = true;
    }
    formula_.root = any(depth);
    if (choose(8) == 0)
        formula_.head = {"f", {"x", "y"}, true, formula_.root, {}};
    return std::move(formula_);
}

} // namespace

ast::Formula random_formula(Random& random, int depth) {
    return Grower(random).grow(depth);
}

} // namespace tilefold::tests
