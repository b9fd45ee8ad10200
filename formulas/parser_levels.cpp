// formulas/parser_levels.cpp - the loose operators: or, and, not,
// comparisons, sums.
#include "formulas/parser_state.h"

namespace tilefold {

using ast::Kind;
using ast::NodeId;

NodeId Parser::parse_expression() {
    return parse_logical(Level::Or);
}

NodeId Parser::parse_logical(Level wanted) {
    const auto operand = [&] {
        return wanted == Level::Or ? parse_logical(Level::And) : parse_not();
    };
    const std::size_t begin = at_;
    NodeId left = operand();
    while (level(peek().kind) == wanted) {
        check_condition_continues();
        const auto name = spelling(take().kind);
        const NodeId right = operand();
        left = tree_.apply(name, {left, right}, span_from(begin));
    }
    return left;
}

NodeId Parser::parse_not() {
    if (!next_is(TokenKind::Not))
        return parse_comparison();
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    take();
    const NodeId operand = parse_not();
    return tree_.apply("not", {operand}, span_from(begin));
}

/// Parses comparisons: `0 <= d < w` is `0 <= d and d < w`, with one node d.
NodeId Parser::parse_comparison() {
    const std::size_t begin = at_;
    NodeId left = parse_sum();
    std::optional<NodeId> chain;
    while (level(peek().kind) == Level::Comparison) {
        check_condition_continues();
        const auto name = spelling(take().kind);
        const NodeId right = parse_sum();
        const Span span = span_from(begin);
        const NodeId link = tree_.apply(name, {left, right}, span);
        chain = chain ? tree_.apply("and", {*chain, link}, span) : link;
        left = right;
    }
    return chain.value_or(left);
}

NodeId Parser::parse_sum() {
    const std::size_t begin = at_;
    NodeId left = parse_signed_term();
    while (level(peek().kind) == Level::Sum) {
        check_sum_continues();
        check_no_mod(left);
        const auto name = spelling(take().kind);
        const NodeId right = parse_signed_term();
        check_no_mod(right);
        check_euler(left, right);
        left = tree_.apply(name, {left, right}, span_from(begin));
    }
    return left;
}

/// A sign belongs to the whole term: `-x²/2` is `-((x²)/2)`.
NodeId Parser::parse_signed_term() {
    if (level(peek().kind) != Level::Sum)
        return parse_product();
    const Nesting nesting(*this);
    const std::size_t begin = at_;
    const bool minus = take().kind == TokenKind::Minus;
    const NodeId term = parse_signed_term();
    if (!minus)
        return term;
    check_no_rounding(term);
    return tree_.apply("neg", {term}, span_from(begin));
}

/// Refuses `sum_j a_j + c`: the term ended inside a reduction.
void Parser::check_sum_continues() const {
    if (prefix_end_ == at_ && tokens_[at_ - 1].kind == TokenKind::Name &&
        is_reserved(tokens_[at_ - 1])) // sum_j exp -r
        fail(Code::FunctionNeedsParentheses, place(tokens_[at_ - 1].span),
             {text_of(tokens_[at_ - 1])});
    if (prefix_end_ == at_)
        fail(Code::SumAfterReduction, place(peek().span),
             {text_of(tokens_[prefix_token_])});
}

/// Refuses `sum_j a_j < c` and `any_j a_j and c`: the condition began inside a
/// reduction.
void Parser::check_condition_continues() const {
    if (prefix_end_ != at_)
        return;
    check_angle_bracket(at_);
    fail(Code::ConditionAfterReduction, place(peek().span),
         {text_of(tokens_[prefix_token_]), std::string(spelling(peek().kind))});
}

/// Refuses `-a // b` and `-a mod b`: in Python the sign is a's, elsewhere it is
/// the term's, and what is rounded differs.
void Parser::check_no_rounding(NodeId term) const {
    for (; !is_grouped(term); term = tree_[term].children[0]) {
        const ast::Node& node = tree_[term];
        if (node.kind != Kind::Apply || node.children.size() != 2 ||
            node.name == "^")
            return;
        if (node.name == "//" || node.name == "mod")
            fail(Code::SignBeforeDivision, place(node.span), {node.name});
    }
}

void Parser::check_no_mod(NodeId term) const {
    if (!is_grouped(term) && tree_[term].kind == Kind::Apply &&
        tree_[term].name == "mod")
        fail(Code::ModInSum, place(tree_[term].span));
}

} // namespace tilefold
