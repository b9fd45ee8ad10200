// compiler/composites.cpp - composites.def, parsed when first asked, and the
// pass that writes its operations with others.

#include "compiler/composites.h"

#include "compiler/build_state.h"

#include <algorithm>
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
#include "compiler/composites.def"
#undef COMPOSITE
    return bodies;
}

bool has_composites(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return find_composite(node.op) ||
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

ValueId body_of(Builder& builder, const ast::Formula& body, const Node& node,
                std::span<const ValueId> operands) {
    Bindings bindings;
    bindings.span = node.span;
    constexpr const char* letters[] = {"a", "b"};
    for (std::size_t k = 0; k < operands.size(); ++k)
        bindings.values[letters[k]] = operands[k];
    return expand(builder, body, bindings);
}

} // namespace

const ast::Formula* find_composite(Op op) {
    static const std::map<Op, ast::Formula> bodies = parse_bodies();
    const auto found = bodies.find(op);
    return found == bodies.end() ? nullptr : &found->second;
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
        node.fold = lowered(node.fold);
        const ast::Formula* body = find_composite(node.op);
        made.push_back(body ? body_of(builder, *body, node, operands)
                            : builder.rebuild(node, operands));
        if (builder.type(made.back()) != node.type)
            internal_error(std::string(ir::mnemonic(node.op)) +
                           " and its formula differ in type");
    }
    return lower_composites(builder.finish(made[graph.result]));
}

} // namespace tilefold
