// formulas/keops_syntax.cpp - expressions in KeOps spelling.
#include "formulas/keops_syntax.h"

#include "formulas/excerpt.h"
#include "formulas/keops_state.h"
#include "formulas/lexer.h"
#include "formulas/names.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tilefold {

using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

struct ReductionRow {
    std::string_view keops;
    std::string_view text;
};

constexpr ReductionRow other_reductions[] = {
#define KEOPS_REDUCTION(name, stem) {#name, #stem},
#include "formulas/keops.def"
};

constexpr ReductionRow missing_reductions[] = {
#define KEOPS_NO_REDUCTION(name, cure) {#name, cure},
#include "formulas/keops.def"
};

/// Binary operators by level, tightest last.
struct BinaryOperator {
    TokenKind kind;
    int level;
    std::string_view name;
};

constexpr int tightest = 2;

constexpr BinaryOperator binary_operators[] = {
    {TokenKind::Bar, 0, "·"},   {TokenKind::Plus, 1, "+"},
    {TokenKind::Minus, 1, "-"}, {TokenKind::Star, 2, "*"},
    {TokenKind::Slash, 2, "/"},
};

} // namespace

KeopsParser::Nesting::Nesting(KeopsParser& parser) : parser_(parser) {
    if (parser.depth_ >= deepest_nesting)
        fail(Code::NestingTooDeep, parser.place(parser.peek().span),
             {std::to_string(deepest_nesting)});
    ++parser.depth_;
}

KeopsParser::KeopsParser(std::string_view text, const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), tree_(text), tokens_(tokenise(text)) {}

void KeopsParser::declare(std::span<const std::string> aliases) {
    for (const std::string& alias : aliases) {
        KeopsVariable variable = parse_keops_alias(alias, variables_.size());
        const std::string name = variable.name;
        if (!variables_.emplace(name, std::move(variable)).second)
            fail(Code::KeopsDuplicateAlias, {name});
    }
}

KeopsFormula KeopsParser::run(const KeopsReduction& reduction) {
    if (tokens_.size() == 1)
        fail(Code::EmptyFormula);
    const NodeId body = parse_comparison();
    KeopsFormula result;
    tree_.formula().root =
        reduction.operation.empty() ? body : reduce(body, reduction);
    if (!next_is(TokenKind::End))
        refuse(peek());
    result.formula = std::move(tree_.formula());
    for (const auto& [name, variable] : variables_)
        result.variables.push_back(variable);
    std::ranges::sort(result.variables, {}, &KeopsVariable::position);
    return result;
}

std::string KeopsParser::reduction_stem(const KeopsReduction& reduction) const {
    const std::string& name = reduction.operation;
    for (const ReductionRow& row : other_reductions)
        if (row.keops == name)
            return std::string(row.text);
    for (const ReductionRow& row : missing_reductions)
        if (row.keops == name)
            fail(Code::KeopsNoEquivalent, {name, std::string(row.text)});
    const std::string stem = vocabulary_.keops_reduction
                                 ? vocabulary_.keops_reduction(name)
                                 : std::string();
    if (stem.empty())
        fail(Code::KeopsReduction, {name});
    return stem;
}

/// Makes the number as if it had been typed: it has no sign.
NodeId KeopsParser::count_node(std::int64_t count, const Span& span) {
    const double value = static_cast<double>(count);
    const NodeId number = tree_.number(std::abs(value), span);
    return count < 0 ? tree_.apply("neg", {number}, span) : number;
}

/// The weights stand after the body, behind a comma.
NodeId KeopsParser::reduce(NodeId body, const KeopsReduction& reduction) {
    Node node;
    node.kind = Kind::Reduce;
    node.axes = reduction.axes;
    node.name = reduction_stem(reduction);
    node.children = {body};
    if (!reduction.weights.empty()) {
        expect(TokenKind::Comma);
        node.children.push_back(parse_comparison());
    }
    node.span = span_from(0);
    if (reduction.count)
        node.children.push_back(count_node(*reduction.count, node.span));
    const auto arity = vocabulary_.reduction(node.name);
    const auto count = static_cast<int>(node.children.size());
    if (count < arity.least || count > arity.most)
        fail(Code::KeopsArity, place(node.span),
             {reduction.operation,
              std::to_string(arity.least) + " operands (with formula2 or "
                                            "opt_arg)",
              std::to_string(count)});
    return tree_.add(std::move(node));
}

NodeId KeopsParser::parse_comparison() {
    const Nesting nesting(*this);
    NodeId left = parse_level(0);
    const std::size_t begin = at_;
    if (level(peek().kind) != Level::Comparison)
        return left;
    const auto name = spelling(take().kind);
    const NodeId right = parse_level(0);
    if (level(peek().kind) == Level::Comparison)
        refuse(peek());
    return tree_.apply(name, {left, right},
                       {tree_[left].span.begin, span_from(begin).end});
}

NodeId KeopsParser::parse_level(int level) {
    if (level > tightest)
        return parse_sign();
    const std::size_t begin = at_;
    NodeId left = parse_level(level + 1);
    for (;;) {
        const auto* found = std::ranges::find_if(
            binary_operators, [&](const BinaryOperator& row) {
                return row.kind == peek().kind && row.level == level;
            });
        if (found == std::end(binary_operators))
            return left;
        take();
        const NodeId right = parse_level(level + 1);
        left = tree_.apply(found->name, {left, right}, span_from(begin));
    }
}

NodeId KeopsParser::parse_sign() {
    if (level(peek().kind) != Level::Sum)
        return parse_power();
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    const bool minus = take().kind == TokenKind::Minus;
    const NodeId operand = parse_sign();
    return minus ? tree_.apply("neg", {operand}, span_from(begin)) : operand;
}

NodeId KeopsParser::parse_power() {
    const std::size_t begin = at_;
    const NodeId base = parse_atom();
    if (!next_is(TokenKind::Caret))
        return base;
    take();
    const NodeId exponent = parse_sign();
    return tree_.apply("^", {base, exponent}, span_from(begin));
}

NodeId KeopsParser::parse_atom() {
    const std::size_t begin = at_;
    if (next_is(TokenKind::Number))
        return tree_.number(take().value, tokens_[begin].span);
    if (next_is(TokenKind::Name) || next_is(TokenKind::Mod))
        return parse_name();
    if (next_is(TokenKind::LeftBracket)) {
        Node node;
        node.kind = Kind::List;
        node.children = parse_list(TokenKind::RightBracket);
        node.span = span_from(begin);
        return tree_.add(std::move(node));
    }
    if (!next_is(TokenKind::LeftParen))
        refuse(peek());
    take();
    const NodeId inside = parse_comparison();
    expect(TokenKind::RightParen);
    return inside;
}

NodeId KeopsParser::parse_name() {
    const Token& token = take();
    if (next_is(TokenKind::LeftParen))
        return parse_call(token);
    const auto found = variables_.find(normalise_name(typed(token)));
    if (found == variables_.end())
        fail(Code::KeopsUnknownName, place(token.span), {typed(token)});
    return variable_node(found->second, token.span);
}

/// Parses from the opening parenthesis or bracket to the closing one.
std::vector<NodeId> KeopsParser::parse_list(TokenKind closing) {
    std::vector<NodeId> operands;
    do {
        take();
        operands.push_back(parse_comparison());
    } while (next_is(TokenKind::Comma));
    expect(closing);
    return operands;
}

const Token& KeopsParser::peek(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

void KeopsParser::expect(TokenKind kind) {
    if (!next_is(kind))
        refuse(peek());
    take();
}

/// A token that has no place in KeOps spelling, or not here.
void KeopsParser::refuse(const Token& token) const {
    if (token.kind != TokenKind::End)
        fail(Code::KeopsSyntax, place(token.span), {"'" + typed(token) + "'"});
    const Token& last = tokens_[at_ > 0 ? at_ - 1 : 0];
    fail(Code::KeopsIncomplete, place(last.span), {typed(last)});
}

std::string KeopsParser::typed(const Token& token) const {
    return shorten(
        std::string_view(tree_.formula().text)
            .substr(token.span.begin, token.span.end - token.span.begin),
        quoted_columns);
}

Span KeopsParser::span_from(std::size_t begin) const {
    return {tokens_[begin].span.begin, tokens_[at_ - 1].span.end};
}

KeopsFormula parse_keops(std::string_view formula,
                         std::span<const std::string> aliases,
                         const KeopsReduction& reduction,
                         const Vocabulary& vocabulary) {
    std::string text(formula);
    if (!reduction.weights.empty())
        text += ", " + reduction.weights;
    KeopsParser parser(text, vocabulary);
    parser.declare(aliases);
    return parser.run(reduction);
}

} // namespace tilefold
