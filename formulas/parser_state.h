// formulas/parser_state.h - the parser of natural maths, split over
// parser*.cpp. Internal to this room.
//
// Recursive descent, one function per level of the precedence table in
// README.md, loosest first. Requirements:
//  1. Linear time: every token is taken once, and looking ahead is bounded or
//     skips only parentheses.
//  2. Bounded recursion: whatever recurses holds a Nesting.
//  3. What has two readings throws; nothing is decided by spacing. Spacing
//     may only turn a formula into an error.
//  4. A parenthesis, call, list or pair of bars opens a new Context: bars and
//     reductions outside are not seen inside.
#pragma once

#include "formulas/symbols.h"
#include "formulas/token.h"
#include "formulas/tree.h"
#include "formulas/vocabulary.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

class Parser {
public:
    Parser(std::string_view text, const Vocabulary& vocabulary);

    ast::Formula run();

private:
    using NodeId = ast::NodeId;

    /// What an unparenthesised stretch of the formula knows of itself.
    struct Context {
        std::vector<std::size_t> open_bars;    ///< their tokens
        ast::Axes stop_axes = ast::Axes::None; ///< of the reductions we are in
        std::size_t reduction = 0; ///< token of the innermost of these
    };

    /// Holds one level of recursion.
    class Nesting {
    public:
        explicit Nesting(Parser& parser);
        ~Nesting() { --parser_.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        Parser& parser_;
    };

    /// A level of recursion with a Context of its own.
    class Scope {
    public:
        explicit Scope(Parser& parser);
        ~Scope() { parser_.context_ = std::move(saved_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Nesting nesting_;
        Parser& parser_;
        Context saved_;
    };

    // parser.cpp: the whole formula
    void find_groups();
    void find_definitions();
    bool at_head() const;
    void parse_head();
    void parse_definitions();
    void parse_definition();
    std::vector<std::string> names_used(std::size_t number) const;
    std::vector<std::string> parse_parameters();
    void check_defined_name(const Token& token) const;
    NodeId parse_body(std::size_t end);

    // parser_notations.cpp: what other notations mean, and what to write
    void check_where_definition(std::size_t at) const;
    void check_number_before_axis(const Token& token) const;
    void check_bar_is_or(std::size_t opening) const;
    std::optional<std::size_t> find_beside(std::size_t at, int step,
                                           TokenKind wanted) const;
    void check_angle_bracket(std::size_t at) const;
    void check_norm_order(std::size_t opening) const;
    void check_positive_part(std::size_t opening) const;
    bool is_bracketed_condition(NodeId id) const;
    void check_condition_subscript(NodeId operand, NodeId subscript) const;
    void check_exponential(NodeId call);
    void check_euler(NodeId left, NodeId right) const;
    void check_phase(NodeId term) const;
    struct Factors;
    Factors factors_of(NodeId term) const;
    std::string typed(std::size_t first, std::size_t last) const;

    // parser_levels.cpp: or, and, not, comparisons, sums
    NodeId parse_expression();
    NodeId parse_logical(Level wanted);
    NodeId parse_not();
    NodeId parse_comparison();
    NodeId parse_sum();
    NodeId parse_signed_term();
    void check_sum_continues() const;
    void check_condition_continues() const;
    void check_no_mod(NodeId term) const;
    void check_no_rounding(NodeId term) const;

    // parser_products.cpp: products, juxtaposition, powers, roots
    NodeId parse_product();
    NodeId parse_factor(const Token* divided_by);
    NodeId parse_juxtaposition(const Token* divided_by);
    NodeId parse_power();
    NodeId parse_exponent(std::size_t caret);
    NodeId parse_exponent_operand();
    NodeId parse_superscript();
    NodeId parse_root();
    NodeId parse_transposes(NodeId base, std::size_t begin);
    ast::NodeId product_of(const Token& operation, ast::NodeId left,
                           ast::NodeId right, Span span);
    void check_chain(const Token& previous, const Token& next) const;
    void check_exponent_end(std::size_t caret, NodeId exponent) const;
    void check_fraction(std::size_t caret, NodeId exponent) const;
    bool ends_divisor(const Token& divided_by, NodeId left) const;
    void check_factor_follows(const Token* divided_by, NodeId left) const;
    void check_divided_factors(const Token& divided_by, NodeId left,
                               NodeId right) const;
    bool starts_operand(std::size_t at) const;
    bool starts_factor() const;
    bool is_simple(NodeId id) const;

    // parser_reductions.cpp
    bool is_reduction(std::size_t at) const;
    bool is_scaled_call(const Token& name) const;
    NodeId parse_scaled_reduction(const Token& name);
    bool reduction_follows(std::size_t at, ast::Axes axes) const;
    NodeId parse_reduction();
    NodeId parse_reduction_call(const Token& name);
    NodeId parse_reduction_prefix(const Token& name);
    NodeId make_reduction(const Token& name, std::vector<NodeId> children);
    void check_functions(const ast::Node& reduction, std::size_t first) const;
    std::size_t parameters_of(NodeId function) const;
    void check_call_continues(std::string_view operation) const;
    void check_factor_of_reduction() const;
    void check_denominator(const Token& division, NodeId right) const;
    void check_inside_reduction() const;
    ast::Axes axes_read(NodeId id) const;

    // parser_operands.cpp: atoms, groups, bars, lists, subscripts
    NodeId parse_postfix();
    NodeId parse_gather(NodeId operand, std::size_t begin);
    bool is_fixed_subscript() const;
    NodeId parse_subscript(NodeId operand, std::size_t begin);
    std::optional<std::int64_t> parse_subscript_bound();
    NodeId parse_atom();
    NodeId parse_group();
    NodeId parse_bars();
    NodeId parse_inner_product();
    NodeId parse_rounded();
    NodeId parse_list();
    /// So many arguments, `values`, are expressions; the rest name
    /// definitions.
    std::vector<NodeId>
    parse_arguments(TokenKind closing,
                    std::size_t values = std::numeric_limits<int>::max(),
                    std::string_view caller = {});
    bool closes_bar() const;
    void check_bar_spacing() const;
    [[noreturn]] void fail_unclosed_bar(std::size_t opening) const;
    void expect_closing(std::size_t opening, TokenKind closing);
    [[noreturn]] void unexpected(std::size_t at) const;
    [[noreturn]] void expected_value() const;

    // parser_names.cpp: names, calls, unknown functions
    NodeId parse_name();
    NodeId parse_variable(const Token& token);
    bool is_factor_before_group(const Token& token) const;
    NodeId parse_function(std::string_view caller);
    NodeId parse_call(const Token& token);
    void check_bare_name(const Token& token) const;
    void check_value_name(const Token& token) const;
    void check_arity(std::string_view name, Vocabulary::Arity arity,
                     std::size_t count, Span span) const;
    std::string function_name(const Token& token) const;
    bool is_known_function(const Token& token) const;
    bool is_reserved(const Token& token) const;
    bool is_local(const std::string& name) const;
    [[noreturn]] void unknown_function(const Token& token) const;
    [[noreturn]] void unknown_reduction(const Token& token) const;
    void check_foreign_reduction(const Token& token) const;

    const Token& peek(std::size_t ahead = 0) const;
    const Token& take() { return tokens_[at_++]; }
    bool next_is(TokenKind kind) const { return peek().kind == kind; }
    std::string text_of(const Token& token) const;
    std::string reading(NodeId id) const;
    /// Returns the bytes from the first of token `begin` to the last token
    /// taken.
    Span span_from(std::size_t begin) const;
    Place place(Span span) const { return {tree_.formula().text, span}; }
    NodeId mark_grouped(NodeId id);
    bool is_grouped(NodeId id) const {
        return id < grouped_.size() && grouped_[id];
    }

    const Vocabulary& vocabulary_;
    TreeBuilder tree_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
    Context context_;

    /// Whether a node is written in parentheses, or as a call, and so never
    /// ambiguous.
    std::vector<bool> grouped_;
    /// What stands directly in an opening parenthesis or bracket, outside
    /// bars.
    struct Group {
        std::size_t closing = 0; ///< its token; 0: none
        bool has_comma = false;
        bool is_sum = false; ///< `a - b`, `a < b`, `a and b`
    };
    std::map<std::size_t, Group> groups_;
    /// Where the last unparenthesised reduction ended, and the last call of
    /// one with a single argument; and their tokens.
    std::size_t prefix_end_ = 0, prefix_token_ = 0;
    std::size_t call_end_ = 0, call_token_ = 0;
    std::size_t scaled_end_ = 0; ///< of the last `sum_j(f)*2`
    std::string scaled_by_;      ///< its first operator

    std::vector<std::size_t> definitions_; ///< the tokens that start one
    std::set<std::string> pending_;        ///< not defined yet
    /// What a definition is known by: the axes its body reads and, if it is a
    /// function, how many parameters it has.
    struct Defined {
        NodeId body = 0;
        ast::Axes axes = ast::Axes::None;
        std::size_t parameters = 0;
        bool is_exponent = false; ///< looked through as one
    };
    std::map<std::string, Defined> functions_;
    std::map<std::string, Defined> values_;
    std::vector<std::string> parameters_; ///< of the definition we are in
};

} // namespace tilefold
