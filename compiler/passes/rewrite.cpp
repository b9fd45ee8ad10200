// compiler/passes/rewrite.cpp - rebuilds a graph through rules.

#include "compiler/passes/rewrite.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

bool is_discontinuous(Op op) {
    return has_row(op) && row_of(op).continuity == Continuity::Discontinuous;
}

std::vector<bool> value_exact(const Graph& graph) {
    std::vector<bool> exact(graph.nodes.size());
    for (std::size_t k = graph.nodes.size(); k-- > 0;)
        if (exact[k] || is_discontinuous(graph.nodes[k].op))
            for (ValueId input : graph.nodes[k].inputs())
                exact[input] = true;
    return exact;
}

Node node_of(Op op, std::initializer_list<ValueId> operands) {
    Node node;
    node.op = op;
    node.arity = std::uint8_t(operands.size());
    std::ranges::copy(operands, node.operands.begin());
    return node;
}

} // namespace

Rewriter::Rewriter(const Graph& source,
                   std::vector<std::span<const Entry>> tables)
    : source_(source), tables_(std::move(tables)), builder_(source.real),
      value_exact_(value_exact(source)) {
    builder_.graph().arguments = source.arguments;
    builder_.graph().literals = source.literals;
}

Graph Rewriter::run() {
    std::vector<ValueId> made;
    for (at_ = 0; at_ < source_.nodes.size(); ++at_) {
        Node node = source_[at_];
        for (std::size_t k = 0; k < node.arity; ++k)
            node.operands[k] = made[node.operands[k]];
        made.push_back(make(node));
    }
    return builder_.finish(made[source_.result]);
}

ValueId Rewriter::make_by(std::span<const std::span<const Entry>> tables,
                          const Node& node) {
    Node typed = node;
    typed.type = infer_type(builder_.graph(), node);
    for (std::span<const Entry> table : tables)
        for (const Entry& entry : table) {
            if (entry.op != node.op)
                continue;
            const ValueId value = entry.rule(*this, typed);
            if (value != no_value && type(value) == typed.type)
                return value;
        }
    return builder_.rebuild(node, node.inputs());
}

ValueId Rewriter::make(const Node& node) {
    return make_by(tables_, node);
}

ValueId Rewriter::make(Op op, std::initializer_list<ValueId> operands) {
    return make(node_of(op, operands));
}

ValueId Rewriter::make_plain(Op op, std::initializer_list<ValueId> operands) {
    const std::span<const Entry> plain[] = {simplification_rules()};
    return make_by(plain, node_of(op, operands));
}

ValueId Rewriter::make_reduction(const Node& like, ValueId body) {
    return builder_.rebuild(like, std::span(&body, 1));
}

ValueId Rewriter::make_power(ValueId base, std::int64_t exponent) {
    Node node = node_of(Op::IntPow, {base});
    node.first = exponent;
    return make(node);
}

ValueId Rewriter::make_slice(ValueId value, std::int64_t first,
                             std::int64_t last, bool scalar) {
    Node node = node_of(Op::Slice, {value});
    node.first = first;
    node.second = last;
    node.third = scalar;
    return make(node);
}

ValueId Rewriter::first_point(ValueId argument) {
    const Node read = node(argument);
    const Argument of = builder_.graph().arguments[std::size_t(read.first)];
    return builder_.argument(of, Axes::None, read.span);
}

bool Rewriter::is_of_indices(ValueId id) {
    for (ValueId k = ValueId(of_indices_.size()); k <= id; ++k) {
        const Node& node = builder_[k];
        const bool reads = node.op == Op::Argument || node.op == Op::Reduce;
        of_indices_.push_back(
            !(reads && node.type.axes != Axes::None) &&
            std::ranges::all_of(node.inputs(), [&](ValueId input) {
                return of_indices_[input];
            }));
    }
    return of_indices_[id];
}

Sign Rewriter::sign(ValueId id) {
    for (ValueId k = ValueId(signs_.size()); k <= id; ++k)
        signs_.push_back(sign_of(builder_.graph(), k, signs_));
    return signs_[id];
}

} // namespace tilefold::ir
