// formulas/parser_notations.cpp - notations of elsewhere that would be read as
// something else, or not at all: what to write instead.
#include "formulas/excerpt.h"
#include "formulas/notations.h"
#include "formulas/parser_state.h"
#include "formulas/readings.h"

#include <algorithm>

namespace tilefold {

using ast::Axes;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

bool ends_operand(TokenKind kind) {
    return kind == TokenKind::Name || kind == TokenKind::Number ||
           kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
           kind == TokenKind::Superscript || kind == TokenKind::Transpose ||
           kind == TokenKind::Bar || kind == TokenKind::DoubleBar;
}

/// Writes the norm of an order p: a power of the sum of powers.
/// A power may follow what is written in its place.
std::string power_sum(const std::string& inside, const std::string& p) {
    return "(sum([pow(abs(" + inside + "), " + p + ")])^(1/" + p + "))";
}

bool is_word(const Token& token, std::string_view name) {
    return token.kind == TokenKind::Name && token.axes == Axes::None &&
           token.name == name;
}

} // namespace

/// Returns the text from token `first` to the one before `last`, as typed.
std::string Parser::typed(std::size_t first, std::size_t last) const {
    if (first >= last)
        return "…";
    const std::size_t begin = tokens_[first].span.begin;
    const std::size_t end = tokens_[last - 1].span.end;
    return shorten(
        std::string_view(tree_.formula().text).substr(begin, end - begin),
        quoted_columns);
}

/// Refuses `f where r = …`.
void Parser::check_where_definition(std::size_t at) const {
    if (!is_word(tokens_[at], "where") || at + 2 >= tokens_.size() ||
        tokens_[at + 1].kind != TokenKind::Name)
        return;
    std::size_t after = at + 2;
    if (tokens_[after].kind == TokenKind::LeftParen)
        after = groups_.at(after).closing + 1;
    if (tokens_[after].kind == TokenKind::Assign)
        fail(Code::WhereDefinition, place(tokens_[at].span),
             {typed(at + 1, after)});
}

/// Refuses `min[10]_j f` and `kmin(10)_j f`: a number before the axis.
void Parser::check_number_before_axis(const Token& token) const {
    const auto group = groups_.find(at_ + 1);
    if (group == groups_.end() || group->second.closing == 0)
        return;
    const std::size_t closing = group->second.closing;
    const std::string axis = text_of(tokens_[closing + 1]);
    if (axis != "_i" && axis != "_j" && axis != "_ij")
        return;
    const std::string meant = numbered_reduction(
        token.name, axis, typed(at_ + 2, closing), vocabulary_);
    if (!meant.empty())
        fail(Code::NumberBeforeAxis,
             place({token.span.begin, tokens_[closing + 1].span.end}),
             {typed(at_, closing + 2), meant});
}

/// Refuses `(a < b) | (b < c)`: a bar after a condition, or between
/// parentheses.
void Parser::check_bar_is_or(std::size_t opening) const {
    if (opening == 0 || !ends_operand(tokens_[opening - 1].kind))
        return;
    bool meant = tokens_[opening - 1].kind == TokenKind::RightParen &&
                 tokens_[opening + 1].kind == TokenKind::LeftParen;
    int depth = 0;
    for (std::size_t at = opening; at > 0 && depth >= 0 && !meant; --at) {
        const TokenKind kind = tokens_[at - 1].kind;
        if (depth == 0 && kind == TokenKind::Comma)
            break;
        depth += kind == TokenKind::RightParen;
        depth -= kind == TokenKind::LeftParen;
        meant = depth == 0 && level(kind) == Level::Comparison;
    }
    if (meant)
        fail(Code::BarIsOr, place(tokens_[opening].span),
             {std::string(spelling(tokens_[opening].kind))});
}

/// Finds the nearest token of a kind before or after `at`, in the same
/// parenthesis.
std::optional<std::size_t> Parser::find_beside(std::size_t at, int step,
                                               TokenKind wanted) const {
    int depth = 0;
    for (at += std::size_t(step); at < tokens_.size() && depth >= 0;
         at += std::size_t(step)) {
        const TokenKind kind = tokens_[at].kind;
        if (depth == 0 && kind == wanted)
            return at;
        const bool opens =
            kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket;
        const bool closes =
            kind == TokenKind::RightParen || kind == TokenKind::RightBracket;
        depth += step * (int(opens) - int(closes));
    }
    return std::nullopt;
}

/// Refuses `<x, y>`, found at its `<`, its comma, or after its `>`.
void Parser::check_angle_bracket(std::size_t at) const {
    std::optional<std::size_t> less, comma;
    if (tokens_[at].kind == TokenKind::Less)
        less = at;
    else if (tokens_[at].kind == TokenKind::Comma)
        less = find_beside(at, -1, TokenKind::Less);
    else if (at > 0 && tokens_[at - 1].kind == TokenKind::Greater)
        comma = find_beside(at - 1, -1, TokenKind::Comma);
    if (comma)
        less = find_beside(*comma, -1, TokenKind::Less);
    if (!less)
        return;
    comma = find_beside(*less, 1, TokenKind::Comma);
    if (comma && find_beside(*comma, 1, TokenKind::Greater))
        fail(Code::AngleBracket, place(tokens_[*less].span));
}

/// Refuses `|v|_1` and `‖v‖₁`, found after the closing bar.
void Parser::check_norm_order(std::size_t opening) const {
    check_positive_part(opening);
    const Token& next = peek();
    const bool name = next.kind == TokenKind::Name && next.axes == Axes::None &&
                      next.name.starts_with('_');
    if (!name && next.kind != TokenKind::Lowered)
        return;
    std::string order = next.name.substr(name ? 1 : 0);
    if (order.empty() && is_word(peek(1), "inf"))
        order = "inf";
    const std::string inside = typed(opening + 1, at_ - 1);
    const std::string cure =
        order == "1"     ? "sum([abs(" + inside + ")])"
        : order == "2"   ? "|" + inside + "|"
        : order == "inf" ? "max([abs(" + inside + ")])"
                         : power_sum(inside, order.empty() ? "p" : order);
    fail(Code::NormOrder, place(next.span), {cure});
}

/// Refuses `(f)_+` and `(f)₊`, found after the closing parenthesis or bar.
void Parser::check_positive_part(std::size_t opening) const {
    const bool lowered = next_is(TokenKind::Lowered) && peek().name == "+";
    if (!lowered && (!is_word(peek(), "_") || peek(1).kind != TokenKind::Plus))
        return;
    fail(Code::PositivePart, place(peek().span), {typed(opening + 1, at_ - 1)});
}

/// Whether the node is `(i ≠ j)` or `[i ≠ j]`, which have no components.
bool Parser::is_bracketed_condition(NodeId id) const {
    const Node& node = tree_[id];
    const bool list = node.kind == Kind::List && node.children.size() == 1;
    return is_condition(list ? tree_[node.children[0]] : node);
}

/// Refuses `b_j [i ≠ j]`, which would be a component of b_j.
void Parser::check_condition_subscript(NodeId operand, NodeId subscript) const {
    if (is_condition(tree_[subscript]) && !is_grouped(subscript))
        fail(Code::ConditionSubscript, place(tree_[subscript].span),
             {reading(operand), reading(subscript)});
}

/// The factors of a term, those below the line left out.
struct Parser::Factors {
    std::vector<NodeId> symbols; ///< i and j, not in parentheses
    bool has_imaginary = false;  ///< im
    bool has_others = false;     ///< no number and no index
    bool has_cosine = false, has_sine = false;
};

Parser::Factors Parser::factors_of(NodeId term) const {
    Factors found;
    std::vector<NodeId> path{term};
    while (!path.empty()) {
        const NodeId id = path.back();
        path.pop_back();
        const Node& node = tree_[id];
        const bool product =
            node.kind == Kind::Apply &&
            (node.name == "*" || node.name == "·" || node.name == "@");
        const bool first = node.kind == Kind::Apply &&
                           (node.name == "/" || node.name == "neg");
        if (product || first)
            path.insert(path.end(), node.children.begin(),
                        first ? node.children.begin() + 1
                              : node.children.end());
        else if (node.kind == Kind::Index && !is_grouped(id))
            found.symbols.push_back(id);
        else if (node.kind != Kind::Number)
            found.has_others = true;
        found.has_imaginary |= node.kind == Kind::Name && node.name == "im";
        found.has_cosine |= node.kind == Kind::Apply && node.name == "cos";
        found.has_sine |= node.kind == Kind::Apply && node.name == "sin";
    }
    return found;
}

/// Refuses `i*k*r`, where i was meant as the imaginary unit. `i/10`, `0.1i`,
/// `i*i*s` and what has im are about the number of a point.
void Parser::check_phase(NodeId term) const {
    const Factors found = factors_of(term);
    if (found.has_imaginary)
        return;
    for (const NodeId symbol : found.symbols) {
        const auto same = std::ranges::count_if(found.symbols, [&](NodeId id) {
            return tree_[id].axes == tree_[symbol].axes;
        });
        if (same == 1 && (found.has_others || found.symbols.size() > 1))
            fail(Code::ImaginaryIndex, place(tree_[symbol].span),
                 {tree_[symbol].axes == Axes::I ? "i" : "j"});
    }
}

/// Checks `exp(f)`: the terms of f, and of the values it names.
void Parser::check_exponential(NodeId call) {
    if (tree_[call].name != "exp")
        return;
    std::vector<NodeId> path{tree_[call].children[0]};
    while (!path.empty()) {
        const NodeId id = path.back();
        path.pop_back();
        const Node& node = tree_[id];
        const bool sum =
            node.kind == Kind::Apply &&
            (node.name == "+" || node.name == "-" || node.name == "neg");
        const auto value = values_.find(node.name);
        if (sum)
            path.insert(path.end(), node.children.begin(), node.children.end());
        else if (node.kind != Kind::Name || value == values_.end() ||
                 std::ranges::count(parameters_, node.name) != 0)
            check_phase(id);
        else if (!std::exchange(value->second.is_exponent, true))
            path.push_back(value->second.body);
    }
}

/// Refuses `cos(f) + i*sin(f)`.
void Parser::check_euler(NodeId left, NodeId right) const {
    const Factors real = factors_of(left), imaginary = factors_of(right);
    if (real.has_cosine && imaginary.has_sine && real.symbols.empty() &&
        imaginary.symbols.size() == 1 && !imaginary.has_imaginary)
        check_phase(right);
}

} // namespace tilefold
