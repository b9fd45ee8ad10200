// formulas/parser_operands.cpp - numbers, groups, bars, lists, subscripts,
// and what to say where none of them stands.
#include "formulas/parser_state.h"
#include "formulas/readings.h"

namespace tilefold {

using ast::Kind;
using ast::Node;
using ast::NodeId;

/// Parses an operand with its subscripts; `2[a, b]` is a product with a list,
/// and so is `[i ≠ j] [j < k]`.
NodeId Parser::parse_postfix() {
    const std::size_t begin = at_;
    NodeId operand = parse_atom();
    const bool number =
        tree_[operand].kind == Kind::Number && !is_grouped(operand);
    while (next_is(TokenKind::LeftBracket) && !number && prefix_end_ != at_) {
        if (is_bracketed_condition(operand) && !is_fixed_subscript())
            break;
        if (call_end_ == at_)
            fail(Code::SubscriptAfterReduction, place(peek().span),
                 {text_of(tokens_[call_token_])});
        operand = parse_subscript(operand, begin);
    }
    return operand;
}

/// Whether `[2]`, `[-1]`, `[0:3]` or `[:]` follows, or nothing that is a
/// subscript.
bool Parser::is_fixed_subscript() const {
    const std::size_t first = peek(1).kind == TokenKind::Minus ? 2 : 1;
    const bool number = peek(first).kind == TokenKind::Number;
    const TokenKind next = peek(first + number).kind;
    return next == TokenKind::Colon || next == TokenKind::RightBracket ||
           next == TokenKind::End;
}

/// Parses `[k_i]` and `[r_i, c_j]`, which are elements of a table.
NodeId Parser::parse_gather(NodeId operand, std::size_t begin) {
    const std::size_t opening = at_;
    std::vector<NodeId> children = parse_arguments(TokenKind::RightBracket);
    if (children.size() > 2)
        fail(Code::BadSubscript, place(tokens_[opening].span));
    for (const NodeId subscript : children)
        check_condition_subscript(operand, subscript);
    children.insert(children.begin(), operand);
    return tree_.apply("gather", std::move(children), span_from(begin));
}

NodeId Parser::parse_subscript(NodeId operand, std::size_t begin) {
    if (!is_fixed_subscript())
        return parse_gather(operand, begin);
    const std::size_t opening = at_;
    take();
    Node node;
    node.kind = Kind::Subscript;
    node.children = {operand};
    node.first = parse_subscript_bound();
    if (next_is(TokenKind::Colon)) {
        node.is_range = true;
        take();
        node.last = parse_subscript_bound();
        if (next_is(TokenKind::Colon))
            fail(Code::SubscriptStep, place(peek().span));
    }
    if (!next_is(TokenKind::End) && !next_is(TokenKind::RightBracket))
        fail(Code::BadSubscript, place(peek().span));
    if (!node.is_range && !node.first)
        fail(Code::BadSubscript, place(peek().span));
    expect_closing(opening, TokenKind::RightBracket);
    node.span = span_from(begin);
    return tree_.add(std::move(node));
}

std::optional<std::int64_t> Parser::parse_subscript_bound() {
    constexpr double largest = 1e9; // far beyond any number of components
    const bool minus = next_is(TokenKind::Minus);
    const Token& number = peek(minus ? 1 : 0);
    if (number.kind != TokenKind::Number) {
        if (minus)
            fail(Code::BadSubscript, place(peek().span));
        return std::nullopt;
    }
    if (!number.is_integer || number.value > largest)
        fail(Code::BadSubscript, place(number.span));
    at_ += minus ? 2 : 1;
    const auto value = static_cast<std::int64_t>(number.value);
    return minus ? -value : value;
}

NodeId Parser::parse_atom() {
    if (next_is(TokenKind::Number)) {
        const Token& token = take();
        return tree_.number(token.value, token.span);
    }
    if (next_is(TokenKind::Name))
        return is_reduction(at_) ? parse_reduction() : parse_name();
    if (next_is(TokenKind::LeftParen))
        return parse_group();
    if (next_is(TokenKind::Bar) || next_is(TokenKind::DoubleBar))
        return parse_bars();
    if (next_is(TokenKind::LeftBracket))
        return parse_list();
    if (next_is(TokenKind::LeftAngle))
        return parse_inner_product();
    if (next_is(TokenKind::LeftFloor) || next_is(TokenKind::LeftCeiling))
        return parse_rounded();
    // mod is an operator, and the name of a function.
    if (next_is(TokenKind::Mod) && peek(1).kind == TokenKind::LeftParen)
        return parse_name();
    expected_value();
}

NodeId Parser::parse_group() {
    const std::size_t opening = at_;
    const Scope scope(*this);
    take();
    const NodeId inside = parse_expression();
    expect_closing(opening, TokenKind::RightParen);
    check_positive_part(opening);
    return mark_grouped(inside);
}

/// Parses `⟨x, y⟩`.
NodeId Parser::parse_inner_product() {
    const std::size_t opening = at_;
    const auto operands = parse_arguments(TokenKind::RightAngle);
    if (operands.size() != 2)
        fail(Code::AngleBracket, place(span_from(opening)));
    return mark_grouped(tree_.apply("⟨⟩", operands, span_from(opening)));
}

/// Parses `⌊x⌋` and `⌈x⌉`.
NodeId Parser::parse_rounded() {
    const std::size_t opening = at_;
    const Scope scope(*this);
    const bool is_floor = take().kind == TokenKind::LeftFloor;
    const NodeId inside = parse_expression();
    expect_closing(opening,
                   is_floor ? TokenKind::RightFloor : TokenKind::RightCeiling);
    return mark_grouped(
        tree_.apply(is_floor ? "floor" : "ceil", {inside}, span_from(opening)));
}

NodeId Parser::parse_bars() {
    const std::size_t opening = at_;
    const TokenKind bar = peek().kind;
    const Nesting nesting(*this);
    take();
    const ast::Axes stop_axes =
        std::exchange(context_.stop_axes, ast::Axes::None);
    context_.open_bars.push_back(opening);
    const TokenKind next = peek().kind;
    if (next == TokenKind::End || next == TokenKind::RightParen ||
        next == TokenKind::RightBracket)
        fail_unclosed_bar(opening);
    const NodeId inside = parse_expression();
    context_.open_bars.pop_back();
    context_.stop_axes = stop_axes;
    if (is_condition(tree_[inside]) || !next_is(bar))
        check_bar_is_or(opening);
    if (next_is(TokenKind::Comma))
        unexpected(at_);
    if (!next_is(bar))
        fail_unclosed_bar(opening);
    take();
    check_norm_order(opening);
    const Node& node = tree_[inside];
    if (!is_grouped(inside) && node.kind == Kind::Apply &&
        node.name == "norm") {
        tree_.mark_double_bars(inside, span_from(opening));
        return inside;
    }
    return tree_.apply("norm", {inside}, span_from(opening));
}

void Parser::fail_unclosed_bar(std::size_t opening) const {
    check_bar_is_or(opening);
    const Token& bar = tokens_[opening];
    fail(Code::UnclosedBar, place(bar.span), {std::string(spelling(bar.kind))});
}

/// A bar after an operand closes the innermost open pair; else it starts a
/// factor.
bool Parser::closes_bar() const {
    const auto& open = context_.open_bars;
    if (open.empty() || tokens_[open.back()].kind != peek().kind)
        return false;
    check_bar_spacing();
    return true;
}

/// Refuses `|a |b| c|`, which was meant as nested norms, and is not read so.
void Parser::check_bar_spacing() const {
    const Token& next = peek(1);
    if (!peek().space_before || next.space_before)
        return;
    const bool bar =
        next.kind == TokenKind::Bar || next.kind == TokenKind::DoubleBar;
    if (starts_operand(at_ + 1) || (bar && context_.open_bars.size() < 2))
        fail(Code::BarSpacing, place(peek().span));
}

NodeId Parser::parse_list() {
    const std::size_t begin = at_;
    Node node;
    node.kind = Kind::List;
    node.children = parse_arguments(TokenKind::RightBracket);
    node.span = span_from(begin);
    return mark_grouped(tree_.add(std::move(node)));
}

/// Parses from an opening parenthesis or bracket to the closing one.
std::vector<NodeId> Parser::parse_arguments(TokenKind closing,
                                            std::size_t values,
                                            std::string_view caller) {
    const std::size_t opening = at_;
    const Scope scope(*this);
    std::vector<NodeId> arguments;
    take();
    if (next_is(closing) && closing == TokenKind::RightParen) {
        take();
        return arguments;
    }
    arguments.push_back(parse_expression());
    while (next_is(TokenKind::Comma)) {
        take();
        arguments.push_back(arguments.size() < values ? parse_expression()
                                                      : parse_function(caller));
    }
    expect_closing(opening, closing);
    return arguments;
}

void Parser::expect_closing(std::size_t opening, TokenKind closing) {
    const Token& open = tokens_[opening];
    const std::string opened = "'" + std::string(spelling(open.kind)) + "'";
    const std::string wanted = "'" + std::string(spelling(closing)) + "'";
    if (next_is(TokenKind::End) || next_is(TokenKind::With))
        fail(Code::UnclosedParenthesis, place(open.span), {opened, wanted});
    if (next_is(closing)) {
        take();
        return;
    }
    if (closes(peek().kind))
        fail(Code::MismatchedClosing, place(peek().span),
             {"'" + text_of(peek()) + "'", opened, wanted});
    unexpected(at_);
}

/// Refuses a token that continues nothing.
void Parser::unexpected(std::size_t at) const {
    const Token& token = tokens_[at];
    const TokenKind kind = token.kind;
    const std::string text = text_of(token);
    Code code = Code::UnexpectedToken;
    check_angle_bracket(at);
    if (kind == TokenKind::Lowered)
        fail(Code::StraySubscript, place(token.span), {text});
    if (kind == TokenKind::Assign)
        code = Code::SingleEquals;
    else if (kind == TokenKind::Comma)
        code = Code::CommaInParentheses;
    else if (kind == TokenKind::If || kind == TokenKind::Else)
        code = Code::PythonConditional;
    else if (closes(kind))
        code = Code::StrayClosing;
    fail(code, place(token.span), {"'" + text + "'"});
}

void Parser::expected_value() const {
    const Token& found = peek();
    const bool end = found.kind == TokenKind::End;
    check_angle_bracket(at_);
    if (found.kind == TokenKind::Assign || found.kind == TokenKind::If ||
        found.kind == TokenKind::Else || found.kind == TokenKind::Lowered)
        unexpected(at_);
    const bool start = at_ == 0;
    const std::string where =
        start ? "at the start" : "after '" + text_of(tokens_[at_ - 1]) + "'";
    fail(Code::ExpectedValue,
         place(end && !start ? tokens_[at_ - 1].span : found.span),
         {where, end ? text_of(found) : "'" + text_of(found) + "'"});
}

} // namespace tilefold
