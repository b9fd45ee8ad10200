// compiler/build/masks.cpp - see masks.h.

#include "compiler/build/masks.h"

#include "compiler/ir/broadcast.h"
#include "compiler/passes/passes.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Builder;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::Reduction;
using ir::ValueId;

/// Conditions that all have to hold, in ascending order.
using Conditions = std::vector<ValueId>;

void collect(const Builder& builder, ValueId mask, Conditions& all) {
    if (mask == no_value)
        return;
    const Node& node = builder[mask];
    if (node.op != Op::And) {
        all.push_back(mask);
        return;
    }
    collect(builder, node.operands[0], all);
    collect(builder, node.operands[1], all);
}

Conditions conditions_of(const Builder& builder, ValueId mask) {
    Conditions all;
    collect(builder, mask, all);
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
}

ValueId all_of(Builder& builder, const Conditions& conditions) {
    ValueId mask = no_value;
    for (ValueId condition : conditions)
        mask = mask == no_value ? condition
                                : builder.apply(Op::And, {mask, condition});
    return mask;
}

bool is_not(const Builder& builder, ValueId a, ValueId b) {
    return builder[a].op == Op::Not && builder[a].operands[0] == b;
}

/// Joins `b` to `a` where what holds if either does is a conjunction, too: one
/// implies the other, or they differ in a condition that one of them denies.
bool join(const Builder& builder, Conditions& a, const Conditions& b) {
    Conditions common, of_a, of_b;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    std::ranges::set_difference(a, common, std::back_inserter(of_a));
    std::ranges::set_difference(b, common, std::back_inserter(of_b));
    const bool implied = of_a.empty() || of_b.empty();
    const bool opposed = of_a.size() == 1 && of_b.size() == 1 &&
                         (is_not(builder, of_a[0], of_b[0]) ||
                          is_not(builder, of_b[0], of_a[0]));
    if (!implied && !opposed)
        return false;
    a = std::move(common);
    return true;
}

/// Joins alternatives until no two of them can be joined.
void join_all(const Builder& builder, std::vector<Conditions>& alternatives) {
    for (std::size_t k = 0; k < alternatives.size(); ++k)
        for (std::size_t other = k + 1; other < alternatives.size(); ++other)
            if (join(builder, alternatives[k], alternatives[other])) {
                alternatives.erase(alternatives.begin() +
                                   std::ptrdiff_t(other));
                return join_all(builder, alternatives);
            }
}

ValueId either_of(Builder& builder, const std::vector<Masked>& values) {
    std::vector<Conditions> alternatives;
    for (const Masked& value : values)
        alternatives.push_back(conditions_of(builder, value.mask));
    join_all(builder, alternatives);
    ValueId mask = no_value;
    for (const Conditions& conditions : alternatives) {
        const ValueId all = all_of(builder, conditions);
        if (all == no_value)
            return no_value;
        mask = mask == no_value ? all : builder.apply(Op::Or, {mask, all});
    }
    return mask;
}

/// Whether finite operands give finite partials.
bool is_bounded(const Node& node, const std::vector<ir::Sign>& signs) {
    if (node.op == Op::IntPow)
        return node.first >= 0;
    if (node.op == Op::Sqrt) // 0 is its slope at 0
        return ir::is_nonnegative(signs[node.operands[0]]);
    if (node.op == Op::Reduce)
        return Reduction(node.first) == Reduction::Sum ||
               Reduction(node.first) == Reduction::Mean;
    return !ir::has_row(node.op) || row_of(node.op).slope == ir::Slope::Bounded;
}

} // namespace

ValueId held(Builder& builder, Masked masked) {
    if (masked.mask == no_value)
        return masked.value;
    return builder.apply(Op::Where,
                         {masked.mask, masked.value, builder.constant(0)});
}

Masked without_conditions(Builder& builder, Masked masked) {
    const auto is_zero = [&](ValueId value) {
        return builder[value].op == Op::Constant && builder[value].value == 0;
    };
    while (builder[masked.value].op == Op::Where) {
        const Node node = builder[masked.value];
        ValueId condition = node.operands[0];
        if (is_zero(node.operands[2]))
            masked.value = node.operands[1];
        else if (is_zero(node.operands[1])) {
            masked.value = node.operands[2];
            condition = builder.apply(Op::Not, {condition});
        } else
            break;
        masked.mask = both(builder, masked.mask, condition);
    }
    return masked;
}

Masked sum_of(Builder& builder, const std::vector<Masked>& values) {
    if (values.size() == 1)
        return values[0];
    Masked sum;
    for (const Masked& value : values)
        sum.value = ir::plus(builder, sum.value, held(builder, value));
    sum.mask = either_of(builder, values);
    return sum;
}

ValueId both(Builder& builder, ValueId a, ValueId b) {
    Conditions all = conditions_of(builder, a);
    std::ranges::copy(conditions_of(builder, b), std::back_inserter(all));
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all_of(builder, all);
}

ValueId any_component(Builder& builder, ValueId mask) {
    if (builder.type(mask).rank == 0)
        return mask;
    const ValueId one = builder.constant(1), zero = builder.constant(0);
    const ValueId ones = builder.apply(Op::Where, {mask, one, zero});
    return builder.apply(Op::Less, {zero, builder.apply(Op::CompSum, {ones})});
}

SplitMask split_mask(Builder& builder, ValueId mask, Axes axes) {
    Conditions on_axes, rest;
    for (ValueId condition : conditions_of(builder, mask))
        (contains(axes, builder.type(condition).axes) ? on_axes : rest)
            .push_back(condition);
    return {all_of(builder, on_axes), all_of(builder, rest)};
}

std::vector<bool> bounded_ways(const ir::Graph& graph,
                               const std::vector<bool>& active) {
    const std::vector<ir::Sign> signs = ir::signs(graph);
    std::vector<bool> bounded(active.size(), true);
    for (ValueId id = 0; id < active.size(); ++id) {
        const Node& node = graph[id];
        if (!active[id])
            continue;
        bounded[id] = is_bounded(node, signs);
        for (ValueId input : node.inputs())
            bounded[id] = bounded[id] && bounded[input];
    }
    return bounded;
}

} // namespace tilefold
