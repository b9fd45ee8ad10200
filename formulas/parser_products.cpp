// formulas/parser_products.cpp - products, juxtaposition, powers, roots.
#include "formulas/parser_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilefold {

using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

/// Whether the token is `/` or `//`.
bool is_division(const Token& token) {
    return token.kind == TokenKind::Slash ||
           token.kind == TokenKind::FloorDivide;
}

/// Whether `x^n/d` may mean x^(n/d): 3/2, but not the 2/2 and 2/9 of squares
/// over a number, nor 4/6, which nobody writes for 2/3.
bool may_be_fraction(double n, bool negative, double d) {
    if (n == 1)
        return d != 1;
    const bool whole = n == std::floor(n) && d == std::floor(d);
    constexpr double longest = 1e9; // of a number that gcd takes
    if (!whole || n < 1 || d < 2 || n > longest || d > longest)
        return false;
    const bool square = n == 2 && !negative;
    return std::gcd(std::int64_t(n), std::int64_t(d)) == 1 &&
           (!square || d == 3);
}

} // namespace

NodeId Parser::parse_product() {
    const std::size_t begin = at_;
    NodeId left = parse_factor(nullptr);
    const Token* previous = nullptr;
    while (level(peek().kind) == Level::Product &&
           !reduction_follows(at_ + 1, context_.stop_axes)) {
        check_call_continues(spelling(peek().kind));
        const Token& operation = take();
        if (previous != nullptr)
            check_chain(*previous, operation);
        const bool divides =
            is_division(operation) || operation.kind == TokenKind::Mod;
        const NodeId right = parse_factor(divides ? &operation : nullptr);
        if (divides)
            check_denominator(operation, right);
        left = product_of(operation, left, right, span_from(begin));
        previous = &operation;
        if (starts_factor()) { // after a divisor that ended
            const NodeId factor = parse_juxtaposition(nullptr);
            left = tree_.multiply_implicitly(left, factor, span_from(begin));
        }
    }
    return left;
}

/// `2 × x` is a product, whatever x is.
NodeId Parser::product_of(const Token& operation, NodeId left, NodeId right,
                          Span span) {
    if (operation.kind != TokenKind::Times)
        return tree_.apply(spelling(operation.kind), {left, right}, span);
    const bool scales =
        tree_[left].kind == Kind::Number || tree_[right].kind == Kind::Number;
    return scales ? tree_.apply("*", {left, right}, span)
                  : tree_.cross(left, right, span);
}

/// Refuses `a/b·c`, `a mod b*c` and `a·b × c`, which have two readings; `a/b*c`
/// has one, and so has `a × b·c`, since nothing is crossed with a number.
void Parser::check_chain(const Token& previous, const Token& next) const {
    const std::string symbol(spelling(next.kind));
    if (previous.kind == TokenKind::Mod)
        fail(Code::ProductAfterMod, place(next.span), {symbol});
    const auto is_dot = [](const Token& token) {
        return token.kind == TokenKind::Dot || token.kind == TokenKind::At;
    };
    if (is_dot(previous) && next.kind == TokenKind::Times &&
        peek().kind != TokenKind::Number)
        fail(Code::CrossAfterDot, place(next.span),
             {std::string(spelling(previous.kind))});
    const bool dot = is_dot(next);
    if (is_division(previous) && dot)
        fail(Code::DotAfterDivision, place(next.span),
             {symbol, std::string(spelling(previous.kind))});
}

/// Parses a factor; it may have a sign after an operator, as in `a * -b`.
NodeId Parser::parse_factor(const Token* divided_by) {
    if (level(peek().kind) != Level::Sum)
        return parse_juxtaposition(divided_by);
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    const bool minus = take().kind == TokenKind::Minus;
    const NodeId operand = parse_factor(divided_by);
    return minus ? tree_.apply("neg", {operand}, span_from(begin)) : operand;
}

NodeId Parser::parse_juxtaposition(const Token* divided_by) {
    const std::size_t begin = at_;
    NodeId left = parse_power();
    while (starts_factor()) {
        check_factor_of_reduction();
        if (divided_by != nullptr && ends_divisor(*divided_by, left))
            break;
        check_factor_follows(divided_by, left);
        const NodeId right = parse_power();
        if (divided_by != nullptr)
            check_divided_factors(*divided_by, left, right);
        left = tree_.multiply_implicitly(left, right, span_from(begin));
    }
    return left;
}

/// Whether the divisor ends here: `D/2 log(x)` is (D/2) log(x), since after a
/// number and a space a call is no part of the divisor.
bool Parser::ends_divisor(const Token& divided_by, NodeId left) const {
    return divided_by.kind == TokenKind::Slash && peek().space_before &&
           tree_[left].kind == Kind::Number && !is_grouped(left) &&
           next_is(TokenKind::Name) && peek().axes == ast::Axes::None &&
           peek(1).kind == TokenKind::LeftParen;
}

/// Whether the token at `at` can only begin an operand.
bool Parser::starts_operand(std::size_t at) const {
    const TokenKind kind = tokens_[std::min(at, tokens_.size() - 1)].kind;
    return kind == TokenKind::Number || kind == TokenKind::Name ||
           kind == TokenKind::LeftParen || kind == TokenKind::LeftAngle ||
           kind == TokenKind::LeftFloor || kind == TokenKind::LeftCeiling ||
           kind == TokenKind::Root;
}

bool Parser::starts_factor() const {
    if (next_is(TokenKind::Bar) || next_is(TokenKind::DoubleBar))
        return !closes_bar();
    return starts_operand(at_) || next_is(TokenKind::LeftBracket);
}

/// Called before the second factor of a product without `*`.
void Parser::check_factor_follows(const Token* divided_by, NodeId left) const {
    if (next_is(TokenKind::Number))
        fail(Code::NumberAfterFactor, place(peek().span), {text_of(peek())});
    if (divided_by == nullptr || !peek().space_before)
        return;
    const std::string symbol(spelling(divided_by->kind));
    const bool slash = is_division(*divided_by);
    fail(Code::SpaceAfterDivision,
         place({tree_[left].span.begin, peek().span.end}),
         {symbol, slash ? symbol : " " + symbol + " ", reading(left)});
}

/// After `/`, an implicit product holds only numbers and names with powers.
void Parser::check_divided_factors(const Token& divided_by, NodeId left,
                                   NodeId right) const {
    const bool slash = is_division(divided_by);
    if (slash && is_simple(left) && is_simple(right))
        return;
    const std::string symbol(spelling(divided_by.kind));
    const std::string first = reading(left), second = reading(right);
    fail(Code::FactorAfterDivision,
         place({tree_[left].span.begin, tree_[right].span.end}),
         {slash ? symbol : " " + symbol + " ", first, second,
          symbol + (slash ? "" : " ") + first + second});
}

/// Whether the node is a number or a name with its subscript and power, or a
/// product of these.
bool Parser::is_simple(NodeId id) const {
    const Node& node = tree_[id];
    if (is_grouped(id))
        return false;
    switch (node.kind) {
    case Kind::Number:
    case Kind::Name:
    case Kind::Variable:
    case Kind::Index:
        return true;
    case Kind::Subscript:
        return is_simple(node.children[0]);
    case Kind::Apply:
        if (node.name == "^")
            return is_simple(node.children[0]);
        return node.implicit; // its factors have been checked
    case Kind::List:
    case Kind::Reduce:
    case Kind::Function:
        return false;
    }
    return false;
}

NodeId Parser::parse_power() {
    if (next_is(TokenKind::Root))
        return parse_root();
    const std::size_t begin = at_;
    const NodeId base = parse_transposes(parse_postfix(), begin);
    const bool superscript = next_is(TokenKind::Superscript);
    if (!superscript && !next_is(TokenKind::Caret))
        return base;
    check_call_continues("^");
    NodeId exponent = 0;
    if (superscript) {
        exponent = parse_superscript();
        if (next_is(TokenKind::Caret) || next_is(TokenKind::Superscript))
            fail(Code::PowerOfPower, place(peek().span));
    } else {
        const std::size_t caret = at_;
        take();
        exponent = parse_exponent(caret);
    }
    if (next_is(TokenKind::LeftBracket))
        fail(Code::SubscriptAfterPower, place(peek().span));
    return tree_.apply("^", {base, exponent}, span_from(begin));
}

/// Parses `xᵀ` and `x^⊤`; `x^T` is a power until it is known that no T is
/// given.
NodeId Parser::parse_transposes(NodeId base, std::size_t begin) {
    for (;;) {
        const bool caret =
            next_is(TokenKind::Caret) && peek(1).kind == TokenKind::Transpose;
        if (!caret && !next_is(TokenKind::Transpose))
            break;
        check_call_continues("^");
        at_ += caret ? 2 : 1;
        base = tree_.apply("ᵀ", {base}, span_from(begin));
    }
    if (tree_[base].name == "ᵀ" && next_is(TokenKind::LeftBracket))
        fail(Code::SubscriptAfterPower, place(peek().span));
    return base;
}

NodeId Parser::parse_superscript() {
    const Token& token = take();
    if (!token.name.empty())
        return tree_.name(token.name, token.span);
    const NodeId size = tree_.number(std::abs(token.value), token.span);
    return std::signbit(token.value) ? tree_.apply("neg", {size}, token.span)
                                     : size;
}

/// `^` is right-associative, and takes one operand with its sign.
NodeId Parser::parse_exponent(std::size_t caret) {
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    if (level(peek().kind) == Level::Sum) {
        const bool minus = take().kind == TokenKind::Minus;
        const NodeId operand = parse_exponent(caret);
        return minus ? tree_.apply("neg", {operand}, span_from(begin))
                     : operand;
    }
    const NodeId operand = parse_exponent_operand();
    check_exponent_end(caret, operand);
    if (next_is(TokenKind::Superscript)) {
        const NodeId power = parse_superscript();
        return tree_.apply("^", {operand, power}, span_from(begin));
    }
    if (!next_is(TokenKind::Caret))
        return operand;
    const std::size_t next = at_;
    take();
    const NodeId power = parse_exponent(next);
    return tree_.apply("^", {operand, power}, span_from(begin));
}

NodeId Parser::parse_exponent_operand() {
    const bool bar = next_is(TokenKind::Bar) || next_is(TokenKind::DoubleBar);
    if (bar || next_is(TokenKind::Root) || is_reduction(at_))
        fail(Code::ExponentNotSimple, place(peek().span));
    // In (x - y)^T (x - y), T is a name, unless a definition makes it a
    // function.
    if (next_is(TokenKind::Name) && peek().name == "T" && !peek().symbolic &&
        peek().axes == ast::Axes::None && !functions_.contains("T")) {
        const Token& name = take();
        return tree_.name(name.name, name.span);
    }
    return parse_postfix();
}

/// Refuses `x^2y` and `x^1/2`, where the exponent may be meant to go on.
void Parser::check_exponent_end(std::size_t caret, NodeId exponent) const {
    if (is_grouped(exponent))
        return;
    if (!peek().space_before && starts_factor())
        fail(Code::ExponentRunsOn,
             place({tokens_[caret].span.begin, peek().span.end}),
             {"^" + text_of(tokens_[caret + 1]) + text_of(peek())});
    check_fraction(caret, exponent);
}

/// Refuses `x^3/2` and `x^p/2`, where the exponent may be the quotient.
void Parser::check_fraction(std::size_t caret, NodeId exponent) const {
    const Token& divisor = peek(1);
    if (!next_is(TokenKind::Slash) || divisor.kind != TokenKind::Number)
        return;
    bool negative = false;
    for (std::size_t at = caret + 1; level(tokens_[at].kind) == Level::Sum;
         ++at)
        negative ^= tokens_[at].kind == TokenKind::Minus;
    const Node& node = tree_[exponent];
    if (node.kind == Kind::Number
            ? !may_be_fraction(node.value, negative, divisor.value)
            : !is_simple(exponent))
        return;
    fail(Code::FractionalExponent,
         place({tokens_[caret].span.begin, divisor.span.end}),
         {(negative ? "-" : "") + reading(exponent), text_of(divisor)});
}

/// `√` takes one number, name, parenthesis, norm or call, and no more: `√5 r`
/// is (√5) r. In √2π the root is as often meant to go on.
NodeId Parser::parse_root() {
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    take();
    const NodeId operand =
        next_is(TokenKind::Root) ? parse_root() : parse_postfix();
    if (next_is(TokenKind::Superscript) || next_is(TokenKind::Caret))
        fail(Code::RootThenPower, place(peek().span));
    if (tree_[operand].kind == Kind::Number && !is_grouped(operand) &&
        next_is(TokenKind::Name) && peek().name == "pi" &&
        peek().axes == ast::Axes::None)
        fail(Code::RootRunsOn,
             place({tokens_[begin].span.begin, peek().span.end}),
             {reading(operand)});
    return tree_.apply("sqrt", {operand}, span_from(begin));
}

} // namespace tilefold
