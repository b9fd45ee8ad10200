// compiler/build/composites.cpp - composites.def, parsed when first asked, and
// the pass that writes its operations with others.

#include "compiler/build/composites.h"

#include "compiler/build/graph_build.h"
#include "compiler/language/vocabulary.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tilefold {
namespace {

using ir::Builder;
using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

std::map<Op, ast::Formula> parse_bodies() {
    std::map<Op, ast::Formula> bodies;
#define COMPOSITE(op, body) bodies.emplace(Op::op, parse(body, vocabulary()));
#include "compiler/ir/composites.def"
#undef COMPOSITE
    return bodies;
}

const std::map<Op, ast::Formula>& bodies() {
    static const std::map<Op, ast::Formula> all = parse_bodies();
    return all;
}

bool is_weighted(const Node& node) {
    return node.op == Op::Reduce && node.arity == 2 &&
           ir::Reduction(node.first) == ir::Reduction::LogSumExp;
}

/// Whether scores without a weight are among those of which a weighted
/// logsumexp takes the largest: all others would be nothing beside it.
bool has_weightless(const Graph& graph, const Node& node) {
    if (!is_weighted(node))
        return false;
    const Node& score = graph[node.operands[0]];
    if (score.op != Op::Where)
        return true;
    const auto compared = graph[score.operands[0]].inputs();
    return std::ranges::count(compared, node.operands[1]) == 0;
}

/// Returns the scores, -inf where there is no weight.
ValueId without_weightless(Builder& builder, ValueId score, ValueId weight) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const ValueId none =
        builder.apply(Op::Equal, {weight, builder.constant(0)});
    return builder.apply(Op::Where, {none, builder.constant(-infinity), score});
}

bool has_composites(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) {
        return is_composite(node.op) || has_weightless(graph, node) ||
               (node.fold && (has_composites(node.fold->accumulate) ||
                              has_composites(node.fold->merge)));
    });
}

std::shared_ptr<const ir::Fold>
lowered(const std::shared_ptr<const ir::Fold>& fold) {
    return fold ? std::make_shared<const ir::Fold>(
                      ir::Fold{lower_composites(fold->accumulate),
                               lower_composites(fold->merge)})
                : nullptr;
}

} // namespace

bool is_composite(Op op) {
    return bodies().contains(op);
}

ValueId expand_composite(Builder& builder, Op op,
                         std::span<const ValueId> operands, Span span) {
    Bindings bindings;
    bindings.span = span;
    for (std::size_t k = 0; k < operands.size(); ++k)
        bindings.values[operand_letters[k]] = operands[k];
    return expand(builder, bodies().at(op), bindings);
}

Graph lower_composites(const Graph& graph) {
    if (!has_composites(graph))
        return graph;
    Builder builder(graph.real);
    builder.adopt(graph);
    std::vector<ValueId> made;
    for (Node node : graph.nodes) {
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        if (has_weightless(graph, node))
            operands[0] = without_weightless(builder, operands[0], operands[1]);
        node.fold = lowered(node.fold);
        made.push_back(
            is_composite(node.op)
                ? expand_composite(builder, node.op, operands, node.span)
                : builder.rebuild(node, operands));
        if (builder.type(made.back()) != node.type)
            internal_error(std::string(ir::mnemonic(node.op)) +
                           " and its formula differ in type");
    }
    return lower_composites(builder.finish(made[graph.result]));
}

} // namespace tilefold
