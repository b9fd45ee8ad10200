// compiler/build/rules.cpp - parses the rules of differentiation when first
// asked.

#include "compiler/build/rules.h"

#include "compiler/language/vocabulary.h"

namespace tilefold {
namespace {

/// This stands in the place of a rule: the operation is not differentiated by
/// that operand.
constexpr std::string_view no_rule = "none";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Parses "g*b; 0; none".
Rules parse_rules(std::string_view text) {
    Rules rules;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view rule = trimmed(text.substr(0, end));
        if (rule == "0")
            rules.push_back({Rule::Kind::Zero, {}});
        else if (rule == no_rule)
            rules.push_back({Rule::Kind::None, {}});
        else
            rules.push_back({Rule::Kind::Formula, parse(rule, vocabulary())});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return rules;
}

/// The first text's rules, and the second's where that is empty.
struct Pair {
    Rules reverse, forward;

    Pair(std::string_view backwards, std::string_view forwards)
        : reverse(parse_rules(backwards)),
          forward(parse_rules(forwards.empty() ? backwards : forwards)) {}
};

std::vector<Pair> rules_of_operations() {
    std::vector<Pair> all;
    for (const ir::OpRow& row : ir::all_op_rows())
        all.emplace_back(row.partials, row.tangents);
    return all;
}

std::vector<Pair> rules_of_reductions() {
    std::vector<Pair> all;
    for (const ir::ReductionRow& row : ir::all_reduction_rows())
        all.emplace_back(row.adjoints, row.tangents);
    return all;
}

const Pair& rules_of(ir::Op op) {
    static const std::vector<Pair> all = rules_of_operations();
    return all[std::size_t(&row_of(op) - ir::all_op_rows().data())];
}

const Pair& rules_of(ir::Reduction reduction) {
    static const std::vector<Pair> all = rules_of_reductions();
    return all[std::size_t(reduction)];
}

} // namespace

const Rules& partials_of(ir::Op op) {
    return rules_of(op).reverse;
}

const Rules& tangents_of(ir::Op op) {
    return rules_of(op).forward;
}

bool has_rules(ir::Reduction reduction) {
    return row_of(reduction).adjoints != no_rule;
}

bool adds_nothing(ir::Op op, std::size_t operand) {
    return has_row(op) && partials_of(op)[operand].kind == Rule::Kind::Zero;
}

const Rules& adjoints_of(ir::Reduction reduction) {
    return rules_of(reduction).reverse;
}

const Rules& tangents_of(ir::Reduction reduction) {
    return rules_of(reduction).forward;
}

} // namespace tilefold
