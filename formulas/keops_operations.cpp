// formulas/keops_operations.cpp - calls and declarations in KeOps spelling.
#include "formulas/keops_state.h"
#include "formulas/keops_syntax.h"
#include "formulas/lexer.h"
#include "formulas/names.h"
#include "formulas/parser.h"

#include <algorithm>
#include <iterator>

namespace tilefold {

using ast::Axes;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

struct Expansion {
    std::string_view name;
    std::string_view parameters;
    std::string_view body;
};

constexpr Expansion expansions[] = {
#define KEOPS(name, parameters, body) {#name, parameters, body},
#include "formulas/keops.def"
};

struct Missing {
    std::string_view name;
    std::string_view cure;
};

constexpr Missing missing[] = {
#define KEOPS_NONE(name, cure) {#name, cure},
#include "formulas/keops.def"
};

constexpr std::int64_t most_components = 1'000'000;

std::vector<std::string> split_parameters(std::string_view text) {
    std::vector<std::string> names;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(", ", at), text.size());
        names.emplace_back(text.substr(at, end - at));
        at = end + 2;
    }
    return names;
}

bool is_declaration(std::string_view name) {
    return name == "Vi" || name == "Vj" || name == "Pm" || name == "Var";
}

/// Returns what `Vi(3)`, `Vj(1, 3)` or `Var(0, 3, 2)` declares, or nothing
/// where it is malformed.
std::optional<KeopsVariable>
declaration(std::string_view name, const std::vector<std::int64_t>& numbers,
            std::size_t order) {
    const bool var = name == "Var";
    if (var ? numbers.size() != 3 : numbers.empty() || numbers.size() > 2)
        return std::nullopt;
    KeopsVariable variable;
    constexpr Axes categories[] = {Axes::I, Axes::J, Axes::None};
    const std::int64_t category = var            ? numbers[2]
                                  : name == "Vi" ? 0
                                  : name == "Vj" ? 1
                                                 : 2;
    variable.dimension = numbers[numbers.size() == 1 ? 0 : 1];
    if (category < 0 || category > 2 || variable.dimension < 1 ||
        variable.dimension > most_components)
        return std::nullopt;
    variable.axes = categories[category];
    variable.position =
        numbers.size() == 1 ? order : static_cast<std::size_t>(numbers[0]);
    return variable;
}

/// The integers of `(1, 3)`, which must end `tokens`; nothing: malformed.
std::optional<std::vector<std::int64_t>>
integers(std::span<const Token> tokens) {
    std::vector<std::int64_t> numbers;
    if (tokens.empty() || tokens[0].kind != TokenKind::LeftParen)
        return std::nullopt;
    for (std::size_t at = 1; at + 1 < tokens.size(); at += 2) {
        if (tokens[at].kind != TokenKind::Number || !tokens[at].is_integer ||
            tokens[at].value > most_components)
            return std::nullopt;
        numbers.push_back(static_cast<std::int64_t>(tokens[at].value));
        const TokenKind next = tokens[at + 1].kind;
        if (next == TokenKind::RightParen)
            return numbers;
        if (next != TokenKind::Comma)
            return std::nullopt;
    }
    return std::nullopt;
}

std::string count_operands(int count) {
    return std::to_string(count) + (count == 1 ? " operand" : " operands");
}

std::string_view text_of(std::string_view text, const Token& token) {
    return text.substr(token.span.begin, token.span.end - token.span.begin);
}

} // namespace

KeopsVariable parse_keops_alias(std::string_view alias, std::size_t order) {
    const std::vector<Token> tokens = tokenise(alias);
    const auto bad = [&]() { fail(Code::KeopsAlias, {std::string(alias)}); };
    if (tokens.size() < 7 || tokens[0].kind != TokenKind::Name ||
        tokens[1].kind != TokenKind::Assign ||
        tokens[2].kind != TokenKind::Name)
        bad();
    const auto numbers = integers(std::span(tokens).subspan(3));
    const std::size_t expected = 5 + (numbers ? 2 * numbers->size() : 0);
    const std::string_view kind = text_of(alias, tokens[2]);
    if (!numbers || tokens.size() != expected || !is_declaration(kind))
        bad();
    auto variable = declaration(kind, *numbers, order);
    if (!variable)
        bad();
    variable->name = normalise_name(text_of(alias, tokens[0]));
    if (variable->name == "i" || variable->name == "j")
        fail(Code::ReservedName, {variable->name});
    return *variable;
}

NodeId KeopsParser::variable_node(const KeopsVariable& variable, Span span) {
    return variable.axes == Axes::None
               ? tree_.name(variable.name, span)
               : tree_.variable(variable.name, variable.axes, span);
}

NodeId KeopsParser::parse_call(const Token& name) {
    const std::size_t begin = at_ - 1;
    const std::string operation = typed(name);
    if (is_declaration(operation))
        return parse_variable(name);
    if (operation == "Elem" || operation == "Extract")
        return parse_element(operation, begin);
    if (operation == "Zero")
        return parse_zero(begin);
    auto operands = parse_list(TokenKind::RightParen);
    return apply(name, std::move(operands), begin);
}

/// Parses `Var(0, 3, 0)` inside a formula: the argument at position 0.
NodeId KeopsParser::parse_variable(const Token& name) {
    const std::size_t begin = at_ - 1;
    const auto numbers = integers(std::span(tokens_).subspan(at_));
    std::optional<KeopsVariable> variable;
    if (numbers && numbers->size() > 1)
        variable = declaration(typed(name), *numbers, 0);
    if (!variable)
        fail(Code::KeopsAlias, place(name.span), {typed(name) + "(…)"});
    at_ += 2 * numbers->size() + 1;
    for (const auto& [other, declared] : variables_)
        if (declared.position == variable->position)
            return variable_node(declared, span_from(begin));
    variable->name = "arg" + std::to_string(variable->position);
    variables_[variable->name] = *variable;
    return variable_node(*variable, span_from(begin));
}

std::int64_t KeopsParser::parse_integer(std::string_view operation) {
    const Token& token = peek();
    if (token.kind != TokenKind::Number || !token.is_integer ||
        token.value > most_components)
        fail(Code::KeopsInteger, place(token.span), {std::string(operation)});
    return static_cast<std::int64_t>(take().value);
}

/// Parses `Elem(f, 2)` as f[2] and `Extract(f, 1, 3)` as f[1:4].
NodeId KeopsParser::parse_element(std::string_view name, std::size_t begin) {
    Node node;
    node.kind = Kind::Subscript;
    expect(TokenKind::LeftParen);
    node.children = {parse_comparison()};
    expect(TokenKind::Comma);
    node.first = parse_integer(name);
    node.is_range = name == "Extract";
    if (node.is_range) {
        expect(TokenKind::Comma);
        node.last = *node.first + parse_integer(name);
    }
    expect(TokenKind::RightParen);
    node.span = span_from(begin);
    return tree_.add(std::move(node));
}

NodeId KeopsParser::parse_zero(std::size_t begin) {
    expect(TokenKind::LeftParen);
    const std::int64_t count = parse_integer("Zero");
    if (count < 1)
        fail(Code::KTooSmall, place(tokens_[begin].span),
             {"Zero", std::to_string(count)});
    expect(TokenKind::RightParen);
    const Span span = span_from(begin);
    if (count == 1)
        return tree_.number(0, span);
    Node node;
    node.kind = Kind::List;
    for (std::int64_t index = 0; index < count; ++index)
        node.children.push_back(tree_.number(0, span));
    node.span = span;
    return tree_.add(std::move(node));
}

/// Applies an operation of keops.def, or one that exists here.
NodeId KeopsParser::apply(const Token& name, std::vector<NodeId> operands,
                          std::size_t begin) {
    const std::string operation = typed(name);
    const Span span = span_from(begin);
    std::string wanted;
    for (const Expansion& row : expansions) {
        if (row.name != operation)
            continue;
        const auto count = split_parameters(row.parameters).size();
        if (count == operands.size())
            return expand(row.parameters, row.body, operands, span);
        wanted = count_operands(static_cast<int>(count));
    }
    const std::string natural = vocabulary_.keops_operation
                                    ? vocabulary_.keops_operation(operation)
                                    : std::string();
    if (natural.empty() && wanted.empty())
        unknown_operation(name);
    auto arity = vocabulary_.function(natural);
    if (arity.least < 0) // an operator
        arity.least = arity.most = natural == "neg" ? 1 : 2;
    const auto count = static_cast<int>(operands.size());
    if (natural.empty() || count < arity.least || count > arity.most)
        fail(Code::KeopsArity, place(span),
             {operation, wanted.empty() ? count_operands(arity.least) : wanted,
              std::to_string(count)});
    if (operation == "TensorDot" && operands.size() == 7)
        operands[6] = inverse_order(operands[6]);
    return tree_.apply(natural, std::move(operands), span);
}

/// In KeOps axis k goes to place order[k]; `tensordot` takes it from there.
/// What is no order of axes is left as it is, for `tensordot` to refuse.
NodeId KeopsParser::inverse_order(NodeId order) {
    Node list = tree_[order];
    std::vector<NodeId> inverse(list.children.size(), order);
    for (std::size_t from = 0; from < list.children.size(); ++from) {
        const Node& axis = tree_[list.children[from]];
        const bool fits = axis.kind == Kind::Number &&
                          axis.value < static_cast<double>(inverse.size());
        const auto to = fits ? static_cast<std::size_t>(axis.value) : 0;
        const bool is_whole = static_cast<double>(to) == axis.value;
        if (!fits || !is_whole || inverse[to] != order)
            return order;
        inverse[to] = tree_.number(static_cast<double>(from), list.span);
    }
    list.children = std::move(inverse);
    return tree_.add(std::move(list));
}

/// Copies the tree of `body` with `operands` for its parameters.
NodeId KeopsParser::expand(std::string_view parameters, std::string_view body,
                           const std::vector<NodeId>& operands, Span span) {
    const auto names = split_parameters(parameters);
    const ast::Formula parsed = parse(body, vocabulary_);
    std::vector<NodeId> copies;
    for (const Node& node : parsed.nodes) {
        const auto found = std::ranges::find(names, node.name);
        if (node.kind == Kind::Name && found != names.end()) {
            copies.push_back(operands[static_cast<std::size_t>(
                std::distance(names.begin(), found))]);
            continue;
        }
        Node copy = node;
        copy.span = span;
        for (NodeId& child : copy.children)
            child = copies[child];
        copies.push_back(tree_.add(std::move(copy)));
    }
    return copies[parsed.root];
}

void KeopsParser::unknown_operation(const Token& name) const {
    const std::string operation = typed(name);
    for (const Missing& row : missing)
        if (row.name == operation)
            fail(Code::KeopsNoEquivalent, place(name.span),
                 {operation, std::string(row.cure)});
    std::vector<std::string> known;
    for (const Expansion& row : expansions)
        known.emplace_back(row.name);
    for (std::string other : vocabulary_.names()) {
        if (other[0] >= 'a' && other[0] <= 'z')
            other[0] = static_cast<char>(other[0] - 'a' + 'A');
        if (vocabulary_.keops_operation &&
            !vocabulary_.keops_operation(other).empty())
            known.push_back(other);
    }
    if (const auto nearest = nearest_name(operation, known))
        fail(Code::KeopsMisspeltOperation, place(name.span),
             {operation, *nearest});
    fail(Code::KeopsUnknownOperation, place(name.span), {operation});
}

} // namespace tilefold
