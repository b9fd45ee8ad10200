// formulas/readings.cpp - a formula as it was understood: fully
// parenthesised, for people. The notation of the golden corpus.
//
//   (a + b)   every binary operation      a⋅b      an implicit product
//   (-a)      a sign                      x^2      a power
//   |v|       a norm                      sum_j⟨…⟩ the body of a reduction
#include "formulas/readings.h"

#include "formulas/names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

namespace tilefold {

using ast::Formula;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

bool is_apply(const Node& node, std::string_view name) {
    return node.kind == Kind::Apply && node.name == name;
}

class Reader {
public:
    explicit Reader(const Formula& formula) : formula_(formula) {}

    std::string any(NodeId id) const;
    std::string definition(const ast::Definition& definition) const;
    /// Returns `k(u, v)` or `s`, which stand before the equals sign.
    std::string shown_head(ast::Definition definition) const;

private:
    std::string apply(const Node& node) const;
    std::string infix(const Node& node) const;
    std::string flat(NodeId id, const Node& parent) const;
    std::string tight(NodeId id) const;
    std::string list(const Node& node) const;
    std::string name(const Node& node) const;
    std::string shown(const std::string& name) const;

    const Formula& formula_;
};

/// Returns a name as typed where the text is at hand: `σ_f`, not `sigma_f`.
std::string Reader::name(const Node& node) const {
    const std::string axes(subscript(node.axes));
    const std::string_view text = formula_.text;
    if (node.span.begin < node.span.end && node.span.end <= text.size()) {
        const auto typed = split_subscript(fold_name(
            text.substr(node.span.begin, node.span.end - node.span.begin)));
        if (normalise_name(typed.stem) == node.name)
            return typed.stem + axes;
    }
    return shown(node.name) + axes;
}

std::string Reader::shown(const std::string& name) const {
    return greek_as_typed(name, formula_.text);
}

std::string Reader::any(NodeId id) const {
    const Node& node = formula_[id];
    switch (node.kind) {
    case Kind::Number:
        return typed_number(node.value, formula_.text, node.span);
    case Kind::Name:
    case Kind::Variable:
    case Kind::Function:
        return name(node);
    case Kind::Index:
        return node.axes == ast::Axes::I ? "i" : "j";
    case Kind::Apply:
        return apply(node);
    case Kind::Subscript:
        return tight(node.children[0]) + subscript_text(node);
    case Kind::List:
        return "[" + list(node) + "]";
    case Kind::Reduce:
        if (node.children.size() == 1)
            return name(node) + "⟨" + any(node.children[0]) + "⟩";
        return name(node) + "(" + list(node) + ")";
    }
    return "";
}

std::string Reader::apply(const Node& node) const {
    const auto& operands = node.children;
    if (is_infix(node))
        return "(" + infix(node) + ")";
    if (node.name == "^" && operands.size() == 2)
        return tight(operands[0]) + "^" + tight(operands[1]);
    if (operands.size() == 1) {
        const std::string bar = node.double_bars ? "||" : "|";
        if (node.name == "neg")
            return "(-" + any(operands[0]) + ")";
        if (node.name == "not")
            return "(not " + any(operands[0]) + ")";
        if (node.name == "norm")
            return bar + any(operands[0]) + bar;
        if (node.name == "sqrt")
            return "√" + tight(operands[0]);
        if (node.name == "ᵀ")
            return tight(operands[0]) + "ᵀ";
    }
    if (node.name == "⟨⟩")
        return "⟨" + list(node) + "⟩";
    return shown(node.name) + "(" + list(node) + ")";
}

std::string Reader::infix(const Node& node) const {
    const std::string operation = node.implicit  ? "⋅"
                                  : node.crosses ? " × "
                                                 : " " + node.name + " ";
    return flat(node.children[0], node) + operation +
           (node.name == "and" ? flat(node.children[1], node)
                               : any(node.children[1]));
}

/// Prints an operand of `parent`, without the parentheses that nobody misses:
/// `2⋅j` in `(2⋅j⋅x)`, `a < b` in `(a < b and b < c)`.
std::string Reader::flat(NodeId id, const Node& parent) const {
    const Node& node = formula_[id];
    const bool factor = parent.implicit && node.implicit;
    const bool first_conjunct =
        is_apply(node, "and") && parent.children[0] == id;
    const bool comparison =
        is_infix(node) && node.name.find_first_of("<>=!") == 0;
    const bool conjunct =
        is_apply(parent, "and") && (first_conjunct || comparison);
    return factor || conjunct ? infix(node) : any(id);
}

/// Prints an operand of a power, a root or a subscript.
std::string Reader::tight(NodeId id) const {
    const Node& node = formula_[id];
    const bool open =
        is_apply(node, "^") || is_apply(node, "sqrt") || is_apply(node, "ᵀ");
    return open ? "(" + any(id) + ")" : any(id);
}

std::string Reader::list(const Node& node) const {
    std::string text;
    for (const NodeId child : node.children)
        text += (text.empty() ? "" : ", ") + any(child);
    return text;
}

std::string Reader::definition(const ast::Definition& definition) const {
    return shown_head(definition) + " = " + any(definition.body);
}

std::string Reader::shown_head(ast::Definition definition) const {
    definition.name = shown(definition.name);
    for (std::string& parameter : definition.parameters)
        parameter = shown(parameter);
    return definition_head(definition);
}

} // namespace

bool is_infix(const Node& node) {
    constexpr std::string_view operators[] = {
        "+", "-", "*",  "/",  "//", "mod", "·",   "@",
        "<", ">", "<=", ">=", "==", "!=",  "and", "or",
    };
    return node.kind == Kind::Apply && node.children.size() == 2 &&
           std::ranges::count(operators, node.name) != 0;
}

bool is_condition(const Node& node) {
    constexpr std::string_view names[] = {
        "<", "<=", ">", ">=", "==", "!=", "and", "or", "not"};
    return node.kind == Kind::Apply &&
           std::ranges::count(names, node.name) != 0;
}

std::string number_text(double value) {
    char digits[32];
    const auto end = std::to_chars(digits, std::end(digits), value).ptr;
    return {digits, end};
}

std::string typed_number(double value, std::string_view text, Span span) {
    if (span.begin < span.end && span.end <= text.size()) {
        const std::string_view typed =
            text.substr(span.begin, span.end - span.begin);
        const char* const end = typed.data() + typed.size();
        double read = 0;
        const auto found = std::from_chars(typed.data(), end, read);
        if (found.ec == std::errc{} && found.ptr == end && read == value)
            return std::string(typed);
    }
    return number_text(value);
}

std::string subscript_text(const Node& node) {
    const auto bound = [](const std::optional<std::int64_t>& value) {
        return value ? std::to_string(*value) : std::string();
    };
    const std::string last = node.is_range ? ":" + bound(node.last) : "";
    return "[" + bound(node.first) + last + "]";
}

std::string definition_head(const ast::Definition& definition) {
    if (!definition.is_function)
        return definition.name;
    std::string parameters;
    for (const std::string& name : definition.parameters)
        parameters += (parameters.empty() ? "" : ", ") + name;
    return definition.name + "(" + parameters + ")";
}

std::string print_reading(const Formula& formula, NodeId id) {
    return Reader(formula).any(id);
}

std::string print_readings(const Formula& formula) {
    const Reader reader(formula);
    std::string text = reader.any(formula.root);
    if (formula.head)
        text = reader.shown_head(*formula.head) + " = " + text;
    std::string_view link = " with ";
    for (const ast::Definition& part : formula.definitions) {
        text += link;
        text += reader.definition(part);
        link = ", ";
    }
    return text;
}

} // namespace tilefold
