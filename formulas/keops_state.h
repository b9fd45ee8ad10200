// formulas/keops_state.h - the parser of KeOps spelling, split over
// keops*.cpp. Internal to this room.
//
// Precedence climbing with Python's levels, loosest first: comparisons, `|`
// (the inner product), `+ -`, `* /`, the sign, `**`.
#pragma once

#include "formulas/keops_formula.h"
#include "formulas/symbols.h"
#include "formulas/token.h"
#include "formulas/tree.h"
#include "formulas/vocabulary.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

class KeopsParser {
public:
    KeopsParser(std::string_view text, const Vocabulary& vocabulary);

    void declare(std::span<const std::string> aliases);
    KeopsFormula run(const KeopsReduction& reduction);

private:
    using NodeId = ast::NodeId;

    /// Holds one level of recursion.
    class Nesting {
    public:
        explicit Nesting(KeopsParser& parser);
        ~Nesting() { --parser_.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        KeopsParser& parser_;
    };

    // keops_syntax.cpp: expressions and the reduction around them
    NodeId parse_comparison();
    NodeId parse_level(int level);
    NodeId parse_sign();
    NodeId parse_power();
    NodeId parse_atom();
    NodeId parse_name();
    std::vector<NodeId> parse_list(TokenKind closing);
    NodeId count_node(std::int64_t count, const Span& span);
    NodeId reduce(NodeId body, const KeopsReduction& reduction);
    std::string reduction_stem(const KeopsReduction& reduction) const;

    // keops_operations.cpp: calls
    NodeId parse_call(const Token& name);
    NodeId parse_variable(const Token& name);
    std::int64_t parse_integer(std::string_view operation);
    NodeId parse_element(std::string_view name, std::size_t begin);
    NodeId parse_zero(std::size_t begin);
    NodeId apply(const Token& name, std::vector<NodeId> operands,
                 std::size_t begin);
    NodeId expand(std::string_view parameters, std::string_view body,
                  const std::vector<NodeId>& operands, Span span);
    NodeId inverse_order(NodeId order);
    NodeId variable_node(const KeopsVariable& variable, Span span);
    [[noreturn]] void unknown_operation(const Token& name) const;

    const Token& peek(std::size_t ahead = 0) const;
    bool next_is(TokenKind kind) const { return peek().kind == kind; }
    const Token& take() { return tokens_[at_++]; }
    void expect(TokenKind kind);
    [[noreturn]] void refuse(const Token& token) const;
    std::string typed(const Token& token) const;
    Place place(Span span) const { return {tree_.formula().text, span}; }
    Span span_from(std::size_t begin) const;

    const Vocabulary& vocabulary_;
    TreeBuilder tree_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::map<std::string, KeopsVariable> variables_;
};

} // namespace tilefold
