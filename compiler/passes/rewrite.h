// compiler/passes/rewrite.h - what passes share: a graph growing from another
// one, node by node, through a table of rules.
//
// 1. A rule looks at a node whose operands are rewritten already and returns
//    a value to take its place, or no_value.
// 2. The value has the node's type, or the rule is as if it had not matched.
// 3. Rules are tried in the order of the table, again after each match; each
//    must leave less to do, so that this ends.
#pragma once

#include "compiler/passes/passes.h"

#include <span>
#include <vector>

namespace tilefold::ir {

/// What a rule returns that has not matched.
inline constexpr ValueId no = no_value;

class Rewriter {
public:
    using Rule = ValueId (*)(Rewriter&, const Node&);
    struct Entry {
        Op op;
        Rule rule;
    };

    Rewriter(const Graph& source, std::vector<std::span<const Entry>> tables);
    Graph run();

    /// Makes a value and applies the rules to it.
    ValueId make(const Node& node);
    ValueId make(Op op, std::initializer_list<ValueId> operands);
    ValueId make_power(ValueId base, std::int64_t exponent);
    ValueId make_slice(ValueId value, std::int64_t first, std::int64_t last,
                       bool scalar);
    /// Makes a value as make() does, but by the rules of simplify() only.
    ValueId make_plain(Op op, std::initializer_list<ValueId> operands);
    ValueId make_reduction(const Node& like, ValueId body);
    /// Returns the first point of an argument, read as a parameter.
    ValueId first_point(ValueId argument);
    ValueId constant(double value) { return builder_.constant(value); }

    /// The values made so far.
    const Graph& graph() const { return builder_.graph(); }
    /// Returns a copy, because making values moves the nodes.
    Node node(ValueId id) const { return builder_[id]; }
    Type type(ValueId id) const { return builder_.type(id); }
    Axes axes(ValueId id) const { return type(id).axes; }
    bool is(ValueId id, Op op) const { return builder_[id].op == op; }
    bool is_constant(ValueId id, double value) const {
        return is(id, Op::Constant) && builder_[id].value == value;
    }
    /// Returns operand `k` of a value.
    ValueId in(ValueId id, std::size_t k = 0) const {
        return builder_[id].operands[k];
    }
    Sign sign(ValueId id);
    /// Whether the value is made of index symbols, parameters and numbers.
    bool is_of_indices(ValueId id);
    /// Whether the bits of the node that is being rewritten matter, not only
    /// its value, as for an operand of floor or of a comparison.
    bool is_value_exact() const { return value_exact_[at_]; }

private:
    ValueId make_by(std::span<const std::span<const Entry>> tables,
                    const Node& node);

    const Graph& source_;
    std::vector<std::span<const Entry>> tables_;
    Builder builder_;
    std::vector<Sign> signs_;
    std::vector<bool> of_indices_;
    std::vector<bool> value_exact_;
    ValueId at_ = 0;
};

/// Returns the sign of node `id`, from its operands' signs in `known`.
Sign sign_of(const Graph& graph, ValueId id, const std::vector<Sign>& known);

/// The rules of simplify(), which canonicalise() applies too.
std::span<const Rewriter::Entry> simplification_rules();
/// The rules by which products of matrices leave the pair term: linear.cpp.
std::span<const Rewriter::Entry> linear_rules();

} // namespace tilefold::ir
