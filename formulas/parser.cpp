// formulas/parser.cpp - the whole formula: head, body, definitions.
#include "formulas/parser.h"

#include "formulas/excerpt.h"
#include "formulas/lexer.h"
#include "formulas/names.h"
#include "formulas/parser_state.h"
#include "formulas/readings.h"

#include <algorithm>

namespace tilefold {

using ast::NodeId;

namespace {

bool opens(TokenKind kind) {
    return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket ||
           kind == TokenKind::LeftAngle || kind == TokenKind::LeftFloor ||
           kind == TokenKind::LeftCeiling;
}

/// Whether the operator binds more loosely than a product, which needs
/// parentheses around it.
bool loosens(TokenKind kind) {
    return kind == TokenKind::Not ||
           (level(kind) != Level::None && level(kind) != Level::Product);
}

bool separates(TokenKind kind) {
    return kind == TokenKind::Comma || kind == TokenKind::Semicolon;
}

} // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
    if (parser.depth_ >= deepest_nesting)
        fail(Code::NestingTooDeep, parser.place(parser.peek().span),
             {std::to_string(deepest_nesting)});
    ++parser.depth_;
}

Parser::Scope::Scope(Parser& parser)
    : nesting_(parser), parser_(parser),
      saved_(std::exchange(parser.context_, {})) {}

Parser::Parser(std::string_view text, const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), tree_(text), tokens_(tokenise(text)) {}

ast::Formula Parser::run() {
    if (tokens_.size() == 1)
        fail(Code::EmptyFormula);
    find_groups();
    find_definitions();
    std::size_t end = tokens_.size() - 1;
    if (!definitions_.empty()) {
        end = definitions_.front() - 1;
        at_ = definitions_.front();
        parse_definitions();
        at_ = 0;
    }
    if (at_head())
        parse_head();
    const NodeId root = parse_body(end);
    tree_.formula().root = root;
    if (tree_.formula().head)
        tree_.formula().head->body = root;
    return std::move(tree_.formula());
}

NodeId Parser::parse_body(std::size_t end) {
    const NodeId root = parse_expression();
    if (at_ != end)
        unexpected(at_);
    return root;
}

/// Notes what stands in each parenthesis: `softmax_j (s, v)` is a call, and
/// `m_j (x_j - x_i)` a product.
void Parser::find_groups() {
    struct Open {
        std::size_t at;
        bool in_bars;
    };
    std::vector<Open> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
        const TokenKind kind = tokens_[at].kind;
        if (opens(kind)) {
            open.push_back({at, false});
            groups_[at] = {};
            continue;
        }
        if (open.empty())
            continue;
        Group& group = groups_[open.back().at];
        if (closes(kind)) {
            group.closing = at;
            open.pop_back();
        } else if (kind == TokenKind::Bar || kind == TokenKind::DoubleBar) {
            open.back().in_bars ^= true;
        } else {
            group.has_comma |= kind == TokenKind::Comma;
            group.is_sum |= !open.back().in_bars && loosens(kind);
        }
    }
}

/// Finds where the definitions after `with` start, so that they are known
/// before the formula that uses them is parsed.
void Parser::find_definitions() {
    int depth = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
        const TokenKind kind = tokens_[at].kind;
        depth += opens(kind) ? 1 : closes(kind) && depth > 0 ? -1 : 0;
        if (depth != 0)
            continue;
        check_where_definition(at);
        const bool first = definitions_.empty();
        if (first ? kind == TokenKind::With : separates(kind)) {
            definitions_.push_back(at + 1);
            pending_.insert(tokens_[at + 1].name);
        }
    }
    pending_.erase("");
}

/// Whether `k(x, y) =` stands at the start.
bool Parser::at_head() const {
    if (!next_is(TokenKind::Name) || peek(1).kind != TokenKind::LeftParen)
        return false;
    std::size_t ahead = 2;
    while (peek(ahead).kind == TokenKind::Name &&
           peek(ahead + 1).kind == TokenKind::Comma)
        ahead += 2;
    return peek(ahead).kind == TokenKind::Name &&
           peek(ahead + 1).kind == TokenKind::RightParen &&
           peek(ahead + 2).kind == TokenKind::Assign;
}

void Parser::parse_head() {
    ast::Definition head;
    head.is_function = true;
    head.span = peek().span;
    head.name = take().name;
    take();
    for (auto axis : {ast::Axes::I, ast::Axes::J}) {
        const Token& token = take();
        check_value_name(token);
        if (token.axes != ast::Axes::None && token.axes != axis)
            fail(Code::HeadShape, place(token.span));
        if (std::ranges::count(head.parameters, token.name) != 0)
            fail(Code::HeadShape, place(token.span));
        head.parameters.push_back(token.name);
        if (take().kind == TokenKind::RightParen)
            break;
    }
    if (!next_is(TokenKind::Assign))
        fail(Code::HeadShape, place(peek().span));
    take();
    tree_.formula().head = std::move(head);
}

/// Parses each definition behind those that it uses, in whatever order they
/// are written.
void Parser::parse_definitions() {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t k = 0; k < definitions_.size(); ++k)
        numbers.emplace(tokens_[definitions_[k]].name, k);
    std::vector<bool> seen(definitions_.size());
    const auto parse = [&](const auto& self, std::size_t number) -> void {
        if (seen[number])
            return; // perhaps it is one that uses itself, which is refused
        seen[number] = true;
        for (const std::string& name : names_used(number))
            if (const auto used = numbers.find(name); used != numbers.end())
                self(self, used->second);
        at_ = definitions_[number];
        parse_definition();
        if (!separates(peek().kind) && !next_is(TokenKind::End))
            unexpected(at_);
    };
    for (std::size_t k = 0; k < definitions_.size(); ++k)
        parse(parse, k);
}

/// Returns the names in a definition, but its own and its parameters.
std::vector<std::string> Parser::names_used(std::size_t number) const {
    std::size_t at = definitions_[number];
    const std::size_t end = number + 1 < definitions_.size()
                                ? definitions_[number + 1] - 1
                                : tokens_.size();
    std::set<std::string> own;
    for (; at < end && tokens_[at].kind != TokenKind::Assign; ++at)
        own.insert(tokens_[at].name);
    std::vector<std::string> names;
    for (; at < end; ++at)
        if (tokens_[at].kind == TokenKind::Name &&
            !own.contains(tokens_[at].name))
            names.push_back(tokens_[at].name);
    return names;
}

void Parser::parse_definition() {
    if (!next_is(TokenKind::Name))
        fail(Code::DefinitionShape, place(peek().span));
    const Token& name = take();
    check_defined_name(name);
    ast::Definition definition;
    definition.name = name.name;
    definition.span = name.span;
    definition.is_function = next_is(TokenKind::LeftParen);
    if (definition.is_function) {
        if (is_reserved(name))
            fail(Code::ShadowingDefinition, place(name.span), {text_of(name)});
        definition.parameters = parse_parameters();
    }
    if (!next_is(TokenKind::Assign))
        fail(Code::DefinitionShape, place(name.span));
    take();
    parameters_ = definition.parameters;
    definition.body = parse_expression();
    parameters_.clear();
    pending_.erase(name.name);
    Defined defined;
    defined.body = definition.body;
    defined.axes = axes_read(definition.body);
    defined.parameters = definition.parameters.size();
    (definition.is_function ? functions_ : values_)[name.name] = defined;
    tree_.formula().definitions.push_back(std::move(definition));
}

/// Parses `(u, v)` of `k(u, v) = …`.
std::vector<std::string> Parser::parse_parameters() {
    std::vector<std::string> names;
    const std::size_t opening = at_;
    do {
        take(); // the parenthesis, then commas
        const Token& token = peek();
        if (token.kind != TokenKind::Name)
            fail(Code::DefinitionShape, place(token.span));
        check_value_name(token);
        if (token.axes != ast::Axes::None)
            fail(Code::DefinitionSubscript, place(token.span),
                 {text_of(token), token.name});
        if (std::ranges::count(names, token.name) != 0)
            fail(Code::DuplicateDefinition, place(token.span),
                 {text_of(token)});
        names.push_back(take().name);
    } while (next_is(TokenKind::Comma));
    expect_closing(opening, TokenKind::RightParen);
    return names;
}

void Parser::check_defined_name(const Token& token) const {
    check_value_name(token);
    if (token.axes != ast::Axes::None)
        fail(Code::DefinitionSubscript, place(token.span),
             {text_of(token), token.name});
    if (is_local(token.name))
        fail(Code::DuplicateDefinition, place(token.span), {text_of(token)});
}

const Token& Parser::peek(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

/// Returns how a message quotes a token.
std::string Parser::text_of(const Token& token) const {
    if (token.kind == TokenKind::End)
        return "the end of the formula";
    const std::string_view typed =
        std::string_view(tree_.formula().text)
            .substr(token.span.begin, token.span.end - token.span.begin);
    std::string text(typed);
    if (token.kind == TokenKind::Name)
        text = token.symbolic ? fold_name(typed)
                              : token.name + std::string(subscript(token.axes));
    return shorten(text, quoted_columns);
}

std::string Parser::reading(NodeId id) const {
    return shorten(print_reading(tree_.formula(), id), quoted_columns);
}

Span Parser::span_from(std::size_t begin) const {
    return {tokens_[begin].span.begin, tokens_[at_ - 1].span.end};
}

NodeId Parser::mark_grouped(NodeId id) {
    if (grouped_.size() <= id)
        grouped_.resize(id + 1, false);
    grouped_[id] = true;
    return id;
}

ast::Formula parse(std::string_view text, const Vocabulary& vocabulary) {
    return Parser(text, vocabulary).run();
}

} // namespace tilefold
