// compiler/build/fold_graph.cpp - the functions of a fold as graphs.

#include "compiler/build/fold_graph.h"

#include <algorithm>

namespace tilefold {

using ir::Builder;
using ir::Graph;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

/// Says for each value whether it is more than the constants of rules.
std::vector<bool> varying(const Graph& graph) {
    std::vector<bool> varies;
    for (const Node& node : graph.nodes)
        varies.push_back(node.op == Op::Argument || node.op == Op::Literal ||
                         std::ranges::any_of(node.inputs(), [&](ValueId k) {
                             return bool(varies[k]);
                         }));
    return varies;
}

/// Makes the argument that has this place in Fold's order, with a type for it.
ValueId leaf(Builder& into, std::size_t role, DType dtype, Type type,
             Axes axes) {
    return into.argument({std::string(ir::fold_arguments[role]), dtype,
                          type.rank, type.rows, 1, axes},
                         axes);
}

} // namespace

FoldGraphs::FoldGraphs(Builder& builder, std::span<const FoldBody> bodies)
    : builder_(builder) {
    const std::vector<bool> varies = varying(builder.graph());
    for (const FoldBody& body : bodies) {
        const std::vector<bool> moved = moved_of(body);
        for (ValueId id = 0; id <= body.result; ++id)
            if (moved[id])
                for (ValueId input : builder_[id].inputs())
                    if (!moved[input] && varies[input])
                        give(input);
        if (!moved[body.result] && varies[body.result])
            give(body.result);
    }
}

std::vector<bool> FoldGraphs::moved_of(const FoldBody& body) const {
    const std::vector<bool> below =
        ir::reached(builder_.graph(), std::span(&body.result, 1));
    std::vector<bool> moved(body.result + 1);
    for (ValueId id = 0; id <= body.result; ++id) {
        const auto inputs = builder_[id].inputs();
        moved[id] = below[id] && (id == body.left || id == body.right ||
                                  std::ranges::any_of(inputs, [&](ValueId k) {
                                      return bool(moved[k]);
                                  }));
    }
    return moved;
}

bool FoldGraphs::reads_parameters() const {
    if (given_ == no_value)
        return false;
    const Graph& graph = builder_.graph();
    const std::vector<bool> below = ir::reached(graph, std::span(&given_, 1));
    for (ValueId id = 0; id < below.size(); ++id)
        if (below[id] && graph[id].op == Op::Argument)
            return true;
    return false;
}

void FoldGraphs::give(ValueId id) {
    if (places_.contains(id))
        return;
    const Type type = builder_.type(id);
    const std::int64_t place =
        given_ == no_value ? 0 : builder_.type(given_).rows;
    places_.emplace(id, place);
    if (given_ != no_value)
        given_ = builder_.concat(given_, id);
    else
        given_ = type.rank == 1 ? id : builder_.slice(id, 0, 1, false);
}

ValueId FoldGraphs::read_given(Builder& into, ValueId id) const {
    const Type vector{DType::F64, 1, Axes::None, builder_.type(given_).rows, 1};
    const Type& type = builder_.type(id);
    const std::int64_t first = places_.at(id);
    const ValueId all = leaf(into, 2, DType::F64, vector, Axes::None);
    const ValueId part =
        into.slice(all, first, first + type.rows, type.rank == 0);
    if (type.dtype != DType::Bool)
        return part;
    const ValueId zero = into.constant(0);
    return into.apply(Op::NotEqual, {part, zero});
}

/// Copies what is moved with its operands, in the order of the graph.
ValueId FoldGraphs::copied(Builder& into, std::map<ValueId, ValueId>& made,
                           ValueId root) const {
    const std::vector<bool> below =
        ir::reached(builder_.graph(), std::span(&root, 1), [&](ValueId id) {
            return made.contains(id) || places_.contains(id);
        });
    for (ValueId id = 0; id <= root; ++id) {
        if (!below[id] || made.contains(id))
            continue;
        if (places_.contains(id)) {
            made[id] = read_given(into, id);
            continue;
        }
        std::vector<ValueId> operands;
        for (ValueId input : builder_[id].inputs())
            operands.push_back(made.at(input));
        made[id] = into.rebuild(builder_[id], operands);
    }
    return made.at(root);
}

Graph FoldGraphs::graph(const FoldBody& body, DType real) const {
    Builder into(real, builder_.formula());
    std::map<ValueId, ValueId> made;
    const Type left = builder_.type(body.left);
    const Type right = builder_.type(body.right);
    made[body.left] = leaf(into, 0, real, left, Axes::I);
    made[body.right] = leaf(into, 1, real, right, Axes::I);
    const ValueId result = copied(into, made, body.result);
    return into.finish(result);
}

} // namespace tilefold
