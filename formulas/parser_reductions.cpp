// formulas/parser_reductions.cpp - sum_j and its kind: a prefix takes the
// whole term after it, a call its arguments.
#include "formulas/names.h"
#include "formulas/parser_state.h"

#include <span>

namespace tilefold {

using ast::Axes;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

bool overlap(Axes a, Axes b) {
    return (static_cast<int>(a) & static_cast<int>(b)) != 0;
}

Axes both(Axes a, Axes b) {
    return static_cast<Axes>(static_cast<int>(a) | static_cast<int>(b));
}

std::string count_parameters(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " parameter" : " parameters");
}

} // namespace

bool Parser::is_reduction(std::size_t at) const {
    const Token& token = tokens_[std::min(at, tokens_.size() - 1)];
    return token.kind == TokenKind::Name && token.axes != Axes::None &&
           !token.symbolic && vocabulary_.reduction(token.name).least >= 0;
}

/// Whether a reduction over `axes` starts at `at`, perhaps parenthesised.
bool Parser::reduction_follows(std::size_t at, Axes axes) const {
    if (axes == Axes::None)
        return false;
    while (at < tokens_.size() && tokens_[at].kind == TokenKind::LeftParen)
        ++at;
    return is_reduction(at) && overlap(tokens_[at].axes, axes);
}

/// `max_i a_i * min_j b_j`: is the second part of what the first is of? Right
/// after the first it is, and of a sum both readings are one number.
void Parser::check_inside_reduction() const {
    if (context_.stop_axes == Axes::None)
        return;
    const Token& outer = tokens_[context_.reduction];
    if (!vocabulary_.is_linear || vocabulary_.is_linear(outer.name))
        return;
    for (std::size_t at = context_.reduction + 1; at < at_; ++at) {
        const TokenKind kind = tokens_[at].kind;
        if (kind != TokenKind::Plus && kind != TokenKind::Minus &&
            kind != TokenKind::Root)
            fail(Code::ReductionAfterReduction, place(peek().span),
                 {text_of(outer), text_of(peek())});
    }
}

NodeId Parser::parse_reduction() {
    check_inside_reduction();
    const Token& name = tokens_[at_];
    take();
    const bool group = next_is(TokenKind::LeftParen);
    const bool has_comma = group && groups_.at(at_).has_comma;
    if (!group || (peek().space_before && !has_comma))
        return parse_reduction_prefix(name);
    return is_scaled_call(name) ? parse_scaled_reduction(name)
                                : parse_reduction_call(name);
}

/// Whether the call is scaled as in `sum_j(f)*2`, where both readings are one
/// number if 2 is one for all j.
bool Parser::is_scaled_call(const Token& name) const {
    const Group& group = groups_.at(at_);
    if (!vocabulary_.is_linear || !vocabulary_.is_linear(name.name) ||
        group.has_comma || group.closing == 0)
        return false;
    const TokenKind next = tokens_[group.closing + 1].kind;
    const bool scales = next == TokenKind::Star || next == TokenKind::Times ||
                        next == TokenKind::Slash || next == TokenKind::Dot ||
                        next == TokenKind::At;
    return scales && !reduction_follows(group.closing + 2, name.axes);
}

/// Reads `sum_j(f)*2` as `sum_j (f)*2`, and refuses what else may be meant. A
/// name may turn out to be on j: then this is the only reading.
NodeId Parser::parse_scaled_reduction(const Token& name) {
    const std::size_t operation = groups_.at(at_).closing + 1;
    const NodeId node = parse_reduction_prefix(name);
    NodeId body = tree_[node].children[0];
    while (!is_grouped(body)) {
        const Node& product = tree_[body];
        const bool scales = product.name == "*" || product.name == "/" ||
                            product.name == "·" || product.name == "@";
        if (!scales || product.implicit ||
            axes_read(product.children[1]) != Axes::None)
            fail(Code::ProductAfterReduction, place(tokens_[operation].span),
                 {text_of(name),
                  " " + std::string(spelling(tokens_[operation].kind)) + " "});
        body = product.children[0];
    }
    prefix_end_ = 0; // a call: what follows is added to its result
    scaled_end_ = at_;
    scaled_by_ = spelling(tokens_[operation].kind);
    return node;
}

NodeId Parser::make_reduction(const Token& name, std::vector<NodeId> children) {
    Node node;
    node.kind = Kind::Reduce;
    node.axes = name.axes;
    node.name = name.name;
    node.children = std::move(children);
    node.span = {name.span.begin, tokens_[at_ - 1].span.end};
    const Vocabulary::Arity arity = vocabulary_.reduction(name.name);
    check_arity(name.name + std::string(subscript(name.axes)), arity,
                node.children.size(), node.span);
    check_functions(node, std::size_t(arity.values));
    return tree_.add(std::move(node));
}

std::size_t Parser::parameters_of(NodeId function) const {
    return functions_.at(tree_[function].name).parameters;
}

/// The functions are accumulate(state, term), merge(state, state) and
/// finalise(state): the first and the last may be left out.
void Parser::check_functions(const Node& reduction, std::size_t first) const {
    if (first >= reduction.children.size())
        return;
    const std::span functions = std::span(reduction.children).subspan(first);
    const bool finishes =
        functions.size() == 3 ||
        (functions.size() == 2 && parameters_of(functions[1]) == 1);
    for (std::size_t k = 0; k < functions.size(); ++k) {
        const bool is_finish = finishes && k + 1 == functions.size();
        const bool is_merge = k + 1 + finishes == functions.size();
        const std::size_t wanted = is_finish ? 1 : 2;
        const std::size_t found = parameters_of(functions[k]);
        if (found == wanted)
            continue;
        const std::string_view role = is_finish  ? "finalise"
                                      : is_merge ? "merge"
                                                 : "accumulate";
        const Node& function = tree_[functions[k]];
        fail(Code::FoldParameters, place(function.span),
             {std::string(role),
              reduction.name + std::string(subscript(reduction.axes)),
              function.name, count_parameters(wanted), std::to_string(found)});
    }
}

NodeId Parser::parse_reduction_call(const Token& name) {
    const auto token = static_cast<std::size_t>(&name - tokens_.data());
    const NodeId node = make_reduction(
        name,
        parse_arguments(TokenKind::RightParen,
                        std::size_t(vocabulary_.reduction(name.name).values),
                        text_of(name)));
    if (tree_[node].children.size() == 1) {
        call_end_ = at_;
        call_token_ = token;
    }
    return mark_grouped(node);
}

NodeId Parser::parse_reduction_prefix(const Token& name) {
    const auto token = static_cast<std::size_t>(&name - tokens_.data());
    const bool bar = next_is(TokenKind::Bar) || next_is(TokenKind::DoubleBar);
    if (!starts_operand(at_) && !next_is(TokenKind::LeftBracket) &&
        level(peek().kind) != Level::Sum && (!bar || closes_bar())) {
        check_angle_bracket(at_);
        fail(Code::EmptyReduction, place(name.span), {text_of(name)});
    }
    const Nesting nesting(*this);
    const Axes outer_axes = context_.stop_axes;
    const std::size_t outer = context_.reduction;
    context_.stop_axes = both(outer_axes, name.axes);
    context_.reduction = token;
    const NodeId body = parse_signed_term();
    context_.stop_axes = outer_axes;
    context_.reduction = outer;
    const NodeId node = make_reduction(name, {body});
    prefix_end_ = at_;
    prefix_token_ = token;
    return node;
}

/// `sum_j(f)` looks like a call and like a prefix; what follows may have two
/// readings. `sum_j(f) / sum_j(g)` has one.
void Parser::check_call_continues(std::string_view operation) const {
    if (call_end_ != at_)
        return;
    const Token& call = tokens_[call_token_];
    if (operation == "^")
        fail(Code::PowerAfterReduction, place(peek().span), {text_of(call)});
    if (reduction_follows(at_ + 1, call.axes))
        return;
    fail(Code::ProductAfterReduction, place(peek().span),
         {text_of(call), " " + std::string(operation) + " "});
}

/// Called before a factor without `*`, which may belong to a reduction before
/// it.
void Parser::check_factor_of_reduction() const {
    if (call_end_ == at_ && !is_reduction(at_))
        fail(Code::ProductAfterReduction, place(peek().span),
             {text_of(tokens_[call_token_]), " "});
    const bool call = call_end_ == at_;
    const Axes axes = call ? tokens_[call_token_].axes : context_.stop_axes;
    if (!is_reduction(at_) || (!call && !overlap(axes, peek().axes)))
        return;
    fail(Code::ReductionAfterReduction, place(peek().span),
         {text_of(tokens_[call ? call_token_ : context_.reduction]),
          text_of(peek())});
}

/// `1/sum_j a_j * c_i`: is c_i below the line? `1/sum_j a_j * b_j` is clear.
void Parser::check_denominator(const Token& division, NodeId right) const {
    const Node& reduction = tree_[right];
    if (scaled_end_ == at_)
        fail(Code::ProductInDenominator,
             place({division.span.begin, reduction.span.end}),
             {text_of(tokens_[prefix_token_]), scaled_by_});
    if (reduction.kind != Kind::Reduce || prefix_end_ != at_)
        return;
    NodeId body = reduction.children[0];
    for (;;) {
        const Node& node = tree_[body];
        if (is_grouped(body) || node.kind != Kind::Apply || node.implicit ||
            (node.name != "*" && node.name != "/"))
            return;
        if (!overlap(axes_read(node.children[1]), reduction.axes))
            fail(Code::ProductInDenominator,
                 place({division.span.begin, node.span.end}),
                 {text_of(tokens_[prefix_token_]), node.name});
        body = node.children[0];
    }
}

/// The axes that a value may differ on, as far as names tell.
Axes Parser::axes_read(NodeId id) const {
    const Node& node = tree_[id];
    const auto in = [&](const auto& defined) {
        const auto found = defined.find(node.name);
        return found == defined.end() ? Axes::None : found->second.axes;
    };
    switch (node.kind) {
    case Kind::Number:
    case Kind::Function:
        return Axes::None;
    case Kind::Name:
        // A formula without subscripts has y on j, a head names its own.
        if (node.name == "x" || node.name == "y" || tree_.formula().head)
            return Axes::IJ;
        return in(values_);
    case Kind::Variable:
    case Kind::Index:
        return node.axes;
    case Kind::Apply:
    case Kind::Subscript:
    case Kind::List:
    case Kind::Reduce:
        break;
    }
    Axes axes = node.kind == Kind::Apply ? in(functions_) : Axes::None;
    for (const NodeId child : node.children)
        axes = both(axes, axes_read(child));
    return axes;
}

} // namespace tilefold
