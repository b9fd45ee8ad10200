// formulas/parser_names.cpp - names, calls, and names nobody knows.
#include "formulas/names.h"
#include "formulas/notations.h"
#include "formulas/parser_state.h"
#include "formulas/symbols.h"

#include <algorithm>
#include <limits>

namespace tilefold {

using ast::Axes;
using ast::Kind;
using ast::Node;
using ast::NodeId;

namespace {

std::string count_arguments(Vocabulary::Arity arity) {
    const std::string least = std::to_string(arity.least);
    const std::string noun = " arguments";
    if (arity.least == arity.most)
        return least + (arity.least == 1 ? " argument" : noun);
    if (arity.most == std::numeric_limits<int>::max())
        return "at least " + least + (arity.least == 1 ? " argument" : noun);
    const char* link = arity.most == arity.least + 1 ? " or " : " to ";
    return least + link + std::to_string(arity.most) + noun;
}

std::string placeholders(int count) {
    std::string text = count > 0 ? "…" : "";
    for (int index = 1; index < count; ++index)
        text += ", …";
    return text;
}

} // namespace

NodeId Parser::parse_name() {
    const Token& token = peek();
    const bool called = peek(1).kind == TokenKind::LeftParen;
    if (token.axes != Axes::None) {
        if (called && !is_factor_before_group(token))
            unknown_reduction(token);
        return parse_variable(token);
    }
    check_number_before_axis(token);
    if (called)
        return parse_call(token);
    check_bare_name(token);
    take();
    if (token.symbolic || (token.name != "i" && token.name != "j"))
        return tree_.name(token.name, token.span);
    Node node;
    node.kind = Kind::Index;
    node.axes = token.name == "i" ? Axes::I : Axes::J;
    node.span = token.span;
    return tree_.add(std::move(node));
}

/// Whether the name is a factor: `m_j (x_j - x_i)` is a product. What has no
/// need of the parenthesis, or holds a comma or a number alone, was meant as a
/// call.
bool Parser::is_factor_before_group(const Token& token) const {
    check_foreign_reduction(token);
    const Group& group = groups_.at(at_ + 1);
    const bool alone = group.closing == at_ + 3 || group.closing == at_ + 2;
    if (token.axes == Axes::IJ || group.has_comma ||
        (alone && peek(2).kind != TokenKind::Name))
        return false;
    return peek(1).space_before || group.is_sum;
}

NodeId Parser::parse_variable(const Token& token) {
    if (token.axes == Axes::IJ && token.name == "delta")
        fail(Code::KroneckerDelta, place(token.span), {text_of(token)});
    if (token.axes == Axes::IJ)
        fail(Code::BothAxes, place(token.span), {text_of(token)});
    check_value_name(token);
    if (std::ranges::count(parameters_, token.name) != 0)
        fail(Code::ParameterSubscript, place(token.span),
             {text_of(token), token.name});
    if (is_local(token.name))
        fail(Code::DefinitionSubscript, place(token.span),
             {text_of(token), token.name});
    take();
    return tree_.variable(token.name, token.axes, token.span);
}

NodeId Parser::parse_call(const Token& token) {
    const std::size_t begin = at_;
    const auto defined = functions_.find(token.name);
    const bool local = defined != functions_.end();
    const bool hidden = std::ranges::count(parameters_, token.name) != 0;
    if (hidden || (!local && !is_known_function(token)))
        unknown_function(token);
    const std::string name = local ? token.name : function_name(token);
    Vocabulary::Arity arity;
    if (local)
        arity.least = arity.most = static_cast<int>(defined->second.parameters);
    else
        arity = vocabulary_.function(name);
    take();
    auto arguments = parse_arguments(TokenKind::RightParen);
    while (arity.chains && int(arguments.size()) > arity.most) {
        const NodeId first =
            tree_.apply(name, {arguments[0], arguments[1]}, span_from(begin));
        arguments.erase(arguments.begin());
        arguments[0] = mark_grouped(first);
    }
    check_arity(text_of(token), arity, arguments.size(), span_from(begin));
    const NodeId call =
        mark_grouped(tree_.apply(name, std::move(arguments), span_from(begin)));
    if (!local)
        check_exponential(call);
    return call;
}

/// The function of the language that a name calls: `ln` is log.
std::string Parser::function_name(const Token& token) const {
    if (token.kind == TokenKind::Mod)
        return "mod";
    const std::string_view alias = find_alias(token.name);
    return alias.empty() ? token.name : std::string(alias);
}

/// The bare name of a definition, as `caller` takes it.
NodeId Parser::parse_function(std::string_view caller) {
    const Token& token = peek();
    const bool called = peek(1).kind == TokenKind::LeftParen;
    const bool ends = peek(1).kind == TokenKind::Comma ||
                      peek(1).kind == TokenKind::RightParen;
    if (token.kind == TokenKind::Name && pending_.contains(token.name))
        fail(Code::RecursiveDefinition, place(token.span), {text_of(token)});
    const bool known = token.kind == TokenKind::Name &&
                       token.axes == Axes::None &&
                       functions_.contains(token.name) &&
                       std::ranges::count(parameters_, token.name) == 0;
    if (!known || !ends)
        fail(Code::FoldFunction, place(token.span),
             {std::string(caller), text_of(token) + (called ? "(…)" : "")});
    take();
    Node node;
    node.kind = Kind::Function;
    node.name = token.name;
    node.span = token.span;
    return tree_.add(std::move(node));
}

/// Refuses a function without parentheses, and a reduction without an axis.
void Parser::check_bare_name(const Token& token) const {
    if (std::ranges::count(parameters_, token.name) != 0)
        return;
    if (functions_.contains(token.name))
        fail(Code::FunctionAsValue, place(token.span), {text_of(token)});
    if (pending_.contains(token.name))
        fail(Code::RecursiveDefinition, place(token.span), {text_of(token)});
    if (token.symbolic || values_.contains(token.name))
        return;
    const TokenKind next = peek(1).kind;
    const bool bar = (next == TokenKind::Bar || next == TokenKind::DoubleBar) &&
                     context_.open_bars.empty();
    const bool operand = starts_operand(at_ + 1) || bar;
    if (vocabulary_.reduction(token.name).least >= 0 && operand)
        fail(Code::ReductionNeedsAxis, place(token.span), {text_of(token)});
    if (!is_reserved(token))
        return;
    if (operand)
        fail(Code::FunctionNeedsParentheses, place(token.span),
             {text_of(token)});
    std::size_t after = at_ + 2;
    if (next == TokenKind::Caret) {
        after += peek(2).kind == TokenKind::Minus ? 2 : 1;
        if (tokens_[std::min(after, tokens_.size()) - 1].kind !=
            TokenKind::Number)
            return;
    }
    const bool power =
        next == TokenKind::Superscript || next == TokenKind::Caret;
    if (power && starts_operand(after))
        fail(Code::FunctionPower, place(peek(1).span), {text_of(token)});
}

/// i and j are index symbols and name nothing else.
void Parser::check_value_name(const Token& token) const {
    if (token.name == "i" || token.name == "j")
        fail(Code::ReservedName, place(token.span), {token.name});
}

void Parser::check_arity(std::string_view name, Vocabulary::Arity arity,
                         std::size_t count, Span span) const {
    const auto given = static_cast<int>(count);
    if (given >= arity.least && given <= arity.most)
        return;
    const std::string alternative = named_alternative(name, count);
    const std::string call = arity.weak ? named_call(name) : "";
    if (!alternative.empty())
        fail(Code::OtherArity, place(span),
             {std::string(name), count_arguments(arity), std::to_string(given),
              alternative + (call.empty() ? "" : " or " + call)});
    fail(Code::WrongArity, place(span),
         {std::string(name), count_arguments(arity), std::to_string(given),
          placeholders(arity.least)});
}

/// Whether the language has the function; a named formula is hidden by a
/// definition of its name.
bool Parser::is_known_function(const Token& token) const {
    if (token.symbolic)
        return false;
    const std::string name = function_name(token);
    const Vocabulary::Arity arity = vocabulary_.function(name);
    const bool weak = arity.weak || name != token.name;
    const bool hidden =
        weak && token.kind == TokenKind::Name &&
        (values_.contains(token.name) || pending_.contains(token.name));
    return arity.least >= 0 && !hidden;
}

/// A function whose name means nothing else.
bool Parser::is_reserved(const Token& token) const {
    return is_known_function(token) && find_alias(token.name).empty() &&
           !vocabulary_.function(token.name).weak;
}

bool Parser::is_local(const std::string& name) const {
    return functions_.contains(name) || values_.contains(name);
}

void Parser::unknown_function(const Token& token) const {
    const std::string name = text_of(token);
    if (name == "i" || name == "j")
        fail(Code::IndexCalled, place(token.span), {name});
    if (pending_.contains(token.name))
        fail(Code::RecursiveDefinition, place(token.span), {name});
    if (vocabulary_.reduction(token.name).least >= 0 && !token.symbolic)
        fail(Code::ReductionNeedsAxis, place(token.span), {name});
    std::vector<std::string> known;
    for (const std::string& other : vocabulary_.names())
        if (vocabulary_.function(other).least >= 0 && other != token.name)
            known.push_back(other);
    for (const auto& [other, parameters] : functions_)
        known.push_back(other);
    std::optional<std::string> nearest = names_like(name, known);
    const std::string_view synonym = find_synonym(name);
    if (vocabulary_.function(synonym).least >= 0)
        nearest = synonym;
    if (nearest)
        fail(Code::MisspeltFunction, place(token.span), {name, *nearest});
    fail(Code::UnknownFunction, place(token.span), {name});
}

/// A reduction that has another name here, or no equivalent.
void Parser::check_foreign_reduction(const Token& token) const {
    if (is_order_statistic(token.name))
        fail(Code::OrderStatistic, place(token.span),
             {text_of(token), std::string(subscript(token.axes))});
    const std::string meant = meant_reduction(token.name, vocabulary_);
    if (!meant.empty())
        fail(Code::MisspeltReduction, place(token.span),
             {text_of(token), meant + std::string(subscript(token.axes))});
}

void Parser::unknown_reduction(const Token& token) const {
    const std::string name = text_of(token);
    if (token.axes == Axes::IJ && token.name == "delta")
        fail(Code::KroneckerDelta, place(token.span), {name});
    std::vector<std::string> known;
    for (const std::string& other : vocabulary_.names())
        if (vocabulary_.reduction(other).least >= 0)
            known.push_back(other);
    if (const auto nearest = nearest_name(token.name, known))
        fail(Code::MisspeltReduction, place(token.span),
             {name, *nearest + std::string(subscript(token.axes))});
    fail(Code::UnknownReduction, place(token.span), {name});
}

} // namespace tilefold
