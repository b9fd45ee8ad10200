// compiler/passes/program.cpp - see program.h.

#include "compiler/passes/program.h"

#include "compiler/ir/queries.h"
#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold {
namespace {

std::int32_t place_of(const std::string& argument,
                      std::span<const std::string> names) {
    if (argument == "#i" || argument == "#j")
        return argument == "#i" ? points_on_i : points_on_j;
    const auto place = std::ranges::find(names, argument);
    if (place == names.end())
        internal_error("a graph reads '" + argument + "', which is not given");
    return std::int32_t(place - names.begin());
}

} // namespace

ProgramGraph::ProgramGraph(ir::Graph graph, std::span<const std::string> names)
    : graph_(std::move(graph)), width_argument_(ir::open_argument(graph_)) {
    for (const ir::Argument& argument : graph_.arguments)
        order_.push_back(place_of(argument.name, names));
}

void ProgramGraph::replace(ir::Graph graph) {
    std::vector<std::int32_t> order;
    for (const ir::Argument& argument : graph.arguments) {
        const auto place = std::ranges::find(graph_.arguments, argument.name,
                                             &ir::Argument::name);
        if (place == graph_.arguments.end())
            internal_error("a pass adds the argument '" + argument.name + "'");
        order.push_back(order_[std::size_t(place - graph_.arguments.begin())]);
    }
    order_ = std::move(order);
    width_argument_ = ir::open_argument(graph);
    graph_ = std::move(graph);
}

Program with_graph(Program program, ir::Graph graph) {
    program.replace(std::move(graph));
    return program;
}

} // namespace tilefold
