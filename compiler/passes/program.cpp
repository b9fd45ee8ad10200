// compiler/passes/program.cpp - see program.h.

#include "compiler/passes/program.h"

#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold {

Program with_graph(Program program, ir::Graph graph) {
    std::vector<std::int32_t> order;
    for (const ir::Argument& argument : graph.arguments) {
        const auto place = std::ranges::find(
            program.graph.arguments, argument.name, &ir::Argument::name);
        order.push_back(program.argument_order[std::size_t(
            place - program.graph.arguments.begin())]);
    }
    program.argument_order = std::move(order);
    program.width_argument = ir::open_argument(graph);
    program.graph = std::move(graph);
    return program;
}

} // namespace tilefold
