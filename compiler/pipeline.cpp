// compiler/pipeline.cpp - the flat list of passes, from AST to key.

#include "compiler/pipeline.h"

#include "compiler/hash.h"
#include "compiler/passes.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Graph;

const Graph& checked(const Graph& graph) {
#ifndef NDEBUG
    verify(graph);
#endif
    return graph;
}

const ir::Node* find_reduction_node(const Graph& graph) {
    const auto place =
        std::ranges::find(graph.nodes, ir::Op::Reduce, &ir::Node::op);
    return place == graph.nodes.end() ? nullptr : &*place;
}

/// A kernel is a pair term; anything else is reduced, or a map.
void check_mode(const ast::Formula& formula, const Graph& graph, Mode mode) {
    const ir::Node* reduction = find_reduction_node(graph);
    if (mode == Mode::Values && reduction)
        fail(Code::ReductionInKernel, {formula.text, reduction->span},
             {spelling_of_reduction(*reduction)});
    const ir::Node& result = graph[graph.result];
    if (mode == Mode::Reduce && !reduction && result.type.axes == Axes::IJ)
        fail(Code::NoReduction, {formula.text, formula[formula.root].span},
             {"N×M"});
}

/// As the user wrote the axes.
Result result_of(const Graph& graph) {
    const Type& type = graph[graph.result].type;
    return {type.axes, type.dtype, type.rank, type.rows};
}

Plan plan_of(const Graph& graph, const CompileOptions& options) {
    const Nest nest = find_reduction_node(graph) ? Nest::Reduce : Nest::Values;
    if (!options.plan)
        return choose_plan(graph, nest, options.isa);
    if (options.plan->nest != nest)
        fail(Code::BadPlan, {"nest", "not the one that the formula needs"});
    return *options.plan;
}

/// Places in `arguments` of the graph's arguments.
std::vector<std::int32_t> order_of(const Graph& graph,
                                   std::span<const ArgumentType> arguments) {
    std::vector<std::int32_t> order;
    for (const ir::Argument& argument : graph.arguments) {
        const auto place =
            std::ranges::find_if(arguments, [&](const ArgumentType& given) {
                return normalise_name(given.name) == argument.name;
            });
        order.push_back(std::int32_t(place - arguments.begin()));
    }
    return order;
}

std::int32_t width_argument_of(const Graph& graph) {
    const auto place =
        std::ranges::find(graph.arguments, dynamic, &ir::Argument::rows);
    return place == graph.arguments.end()
               ? -1
               : std::int32_t(place - graph.arguments.begin());
}

} // namespace

Program compile(const ast::Formula& formula,
                std::span<const ArgumentType> arguments, Mode mode,
                const CompileOptions& options) {
    Program program;
    Graph graph = checked(build(formula, arguments));
    check_mode(formula, graph, mode);
    program.result = result_of(graph);
    graph = checked(simplify(graph));
    ir::Oriented oriented = orient(graph);
    graph = checked(oriented.graph);
    graph = checked(canonicalise(graph));
    program.swapped = oriented.swapped;
    program.single_column = oriented.single_column;
    if (const ir::Node* reduction = find_reduction_node(graph))
        program.folds_rows = Axes(reduction->second) == Axes::IJ;
    program.plan = plan_of(graph, options);
    program.key = key_of(graph, program.plan);
    program.width_argument = width_argument_of(graph);
    program.argument_order = order_of(graph, arguments);
    program.graph = std::move(graph);
    return program;
}

CompileRequest request_of(const Program& program) {
    return {print(program.graph, ir::Names::Numbers), print(program.plan)};
}

} // namespace tilefold
