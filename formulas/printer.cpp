// formulas/printer.cpp - canonical text that parses back to an equal tree.
//
// Whatever is not closed by itself (a number, a name, a call, a norm, a list)
// stands in parentheses where it is an operand, so that no rule of precedence
// or of ambiguity applies when the text is read again.
#include "formulas/printer.h"

#include "formulas/names.h"
#include "formulas/readings.h"

#include <algorithm>
#include <charconv>

namespace tilefold {

using ast::Formula;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

std::string in_parentheses(const std::string& text) {
    return "(" + text + ")";
}

class Printer {
public:
    explicit Printer(const Formula& formula) : formula_(formula) {}

    std::string any(NodeId id) const;
    std::string definition(const ast::Definition& definition) const;

private:
    bool is_apply(NodeId id, std::string_view name, std::size_t arity) const;
    bool is_closed(NodeId id) const;
    std::string operand(NodeId id) const;
    std::string left_operand(const Node& parent) const;
    std::string factor(NodeId id, const Node& parent) const;
    std::string subscripted(NodeId id) const;
    std::string apply(const Node& node) const;
    std::string prefix(const Node& node) const;
    std::string norm(NodeId inside) const;
    std::string juxtaposition(const Node& node) const;
    std::string power(const Node& node) const;
    std::string list(const Node& node) const;

    const Formula& formula_;
};

bool is_name(const Node& node) {
    return node.kind == Kind::Name || node.kind == Kind::Variable ||
           node.kind == Kind::Index;
}

/// Whether the node is written as `name(…)`.
bool is_call(const Node& node) {
    const bool prefix = node.children.size() == 1 &&
                        (node.name == "neg" || node.name == "not" ||
                         node.name == "norm" || node.name == "ᵀ");
    const bool power = node.children.size() == 2 && node.name == "^";
    return node.kind == Kind::Apply && !prefix && !power && !is_infix(node);
}

/// Whether operations chain: `a + b - c` needs no parentheses, nor does `a * b
/// / c`.
bool chains(const Node& left, const Node& parent) {
    if (left.implicit || parent.implicit || !is_infix(left))
        return false;
    const auto both_in = [&](std::string_view first, std::string_view second) {
        return (left.name == first || left.name == second) &&
               (parent.name == first || parent.name == second);
    };
    const bool logic = left.name == "and" || left.name == "or";
    return both_in("+", "-") || both_in("*", "/") ||
           (logic && left.name == parent.name);
}

bool Printer::is_apply(NodeId id, std::string_view name,
                       std::size_t arity) const {
    const Node& node = formula_[id];
    return node.kind == Kind::Apply && node.name == name &&
           node.children.size() == arity;
}

bool Printer::is_closed(NodeId id) const {
    const Node& node = formula_[id];
    return node.kind == Kind::Number || is_name(node) || is_call(node) ||
           is_apply(id, "norm", 1) || node.kind == Kind::List ||
           node.kind == Kind::Subscript;
}

std::string Printer::operand(NodeId id) const {
    return is_closed(id) ? any(id) : in_parentheses(any(id));
}

std::string Printer::left_operand(const Node& parent) const {
    const NodeId left = parent.children[0];
    return chains(formula_[left], parent) ? any(left) : factor(left, parent);
}

/// Prints an operand of a product: i alone may be taken for the imaginary
/// unit.
std::string Printer::factor(NodeId id, const Node& parent) const {
    const bool product = parent.name == "*" || parent.name == "/" ||
                         parent.name == "·" || parent.name == "@" ||
                         parent.name == "neg";
    return product && formula_[id].kind == Kind::Index ? in_parentheses(any(id))
                                                       : operand(id);
}

/// Prints what stands before `[`: after a number it would start a list.
std::string Printer::subscripted(NodeId id) const {
    return is_name(formula_[id]) ? any(id) : in_parentheses(any(id));
}

std::string Printer::any(NodeId id) const {
    const Node& node = formula_[id];
    switch (node.kind) {
    case Kind::Number:
        return number_text(node.value);
    case Kind::Name:
    case Kind::Function:
        return node.name;
    case Kind::Variable:
        return node.name + std::string(subscript(node.axes));
    case Kind::Index:
        return node.axes == ast::Axes::I ? "i" : "j";
    case Kind::Apply:
        return apply(node);
    case Kind::Subscript:
        return subscripted(node.children[0]) + subscript_text(node);
    case Kind::List:
        return "[" + list(node) + "]";
    case Kind::Reduce:
        return node.name + std::string(subscript(node.axes)) +
               in_parentheses(list(node));
    }
    return "";
}

std::string Printer::apply(const Node& node) const {
    if (node.implicit)
        return juxtaposition(node);
    if (is_infix(node))
        return left_operand(node) + " " + (node.crosses ? "×" : node.name) +
               " " + factor(node.children[1], node);
    if (node.name == "⟨⟩")
        return "⟨" + list(node) + "⟩";
    if (node.name == "ᵀ")
        return operand(node.children[0]) + "ᵀ";
    if (is_call(node))
        return node.name + in_parentheses(list(node));
    return node.name == "^" ? power(node) : prefix(node);
}

std::string Printer::prefix(const Node& node) const {
    const NodeId inside = node.children[0];
    if (node.name == "norm")
        return norm(inside);
    const bool bare = is_apply(inside, node.name, 1) ||
                      (node.name == "neg" && is_apply(inside, "^", 2));
    return (node.name == "neg" ? "-" : "not ") +
           (bare ? any(inside) : factor(inside, node));
}

/// Bars directly inside bars would be one norm, and a bar after a factor
/// without an operator would close them; bars around a condition are refused
/// after another one.
std::string Printer::norm(NodeId inside) const {
    const Node& node = formula_[inside];
    if (is_condition(node))
        return "norm" + in_parentheses(any(inside));
    const bool bare = (is_closed(inside) && !is_apply(inside, "norm", 1)) ||
                      (is_infix(node) && !node.implicit);
    return "|" + (bare ? any(inside) : in_parentheses(any(inside))) + "|";
}

/// Prints a power: `x^y^2` is x^(y^2).
std::string Printer::power(const Node& node) const {
    const NodeId exponent = node.children[1];
    const Node& raised = formula_[exponent];
    const bool bare = raised.kind == Kind::Number || is_name(raised) ||
                      is_apply(exponent, "^", 2);
    return operand(node.children[0]) + "^" +
           (bare ? any(exponent) : in_parentheses(any(exponent)));
}

/// Prints factors side by side. A name before a parenthesis would be a call, a
/// number after a factor is refused.
std::string Printer::juxtaposition(const Node& node) const {
    std::vector<NodeId> factors = {node.children[1]};
    NodeId left = node.children[0];
    for (; formula_[left].implicit; left = formula_[left].children[0])
        factors.push_back(formula_[left].children[1]);
    factors.push_back(left);
    std::string text; // of the factors from the last one on
    for (const NodeId factor : factors) {
        const Kind kind = formula_[factor].kind;
        const bool bare = (kind == Kind::Variable && !text.starts_with('(')) ||
                          (kind == Kind::Number && factor == left) ||
                          is_apply(factor, "norm", 1);
        const std::string shown =
            bare ? any(factor) : in_parentheses(any(factor));
        text = text.empty() ? shown : shown + " " + text;
    }
    return text;
}

std::string Printer::list(const Node& node) const {
    std::string text;
    for (const NodeId child : node.children)
        text += (text.empty() ? "" : ", ") + any(child);
    return text;
}

std::string Printer::definition(const ast::Definition& definition) const {
    return definition_head(definition) + " = " + any(definition.body);
}

} // namespace

std::string print(const Formula& formula) {
    const Printer printer(formula);
    std::string text = printer.any(formula.root);
    if (formula.head)
        text = definition_head(*formula.head) + " = " + text;
    std::string_view link = " with ";
    for (const ast::Definition& part : formula.definitions) {
        text += link;
        text += printer.definition(part);
        link = ", ";
    }
    return text;
}

} // namespace tilefold
