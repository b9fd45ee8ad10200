// compiler/graphs.cpp - see graphs.h.
#include "compiler/graphs.h"

#include "compiler/build/composites.h"
#include "compiler/cut_formula.h"
#include "compiler/passes/passes.h"

#include <utility>

namespace tilefold {
namespace {

/// Returns the graphs of a formula that has one.
FormulaGraphs graph_of(const ast::Formula& formula,
                       std::span<const ArgumentType> arguments, Mode mode) {
    const ir::Graph graph = build(formula, arguments, pairs_of(mode));
    Type type = graph[graph.result].type;
    if (graph.is_unsigned)
        type.dtype = DType::U64;
    Sweep sweep{ir::simplify(lower_composites(graph)), {{"$0", type, 0}}};
    FormulaGraphs graphs;
    graphs.sweeps.push_back(std::move(sweep));
    graphs.results.push_back({0, 0});
    graphs.labels.emplace_back();
    graphs.types.push_back(type);
    return graphs;
}

} // namespace

FormulaGraphs graphs_of(const ast::Formula& formula,
                        const Derivation& derivation,
                        std::span<const ArgumentType> arguments, Mode mode) {
    if (!needs_sweeps(formula, derivation, arguments, mode))
        return graph_of(formula, arguments, mode);
    auto [derived, cut] =
        cut_formula(formula, derivation, arguments, pairs_of(mode));
    for (Sweep& sweep : cut.sweeps)
        sweep.graph = ir::simplify(lower_composites(sweep.graph));
    return {std::move(cut.sweeps), std::move(cut.results),
            std::move(derived.labels), std::move(derived.types)};
}

} // namespace tilefold
