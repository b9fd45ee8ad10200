// compiler/backends/cpu/choose_plan.h - the plans of a graph, best first.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <optional>
#include <vector>

namespace tilefold {

/// Whether reductions of the (oriented) graph may be computed in a single
/// panel: their accumulators are registers, and nothing but they make the
/// result. `unroll` is the plan's; without it, the model's own is taken.
bool fits_single_panel(const ir::Graph& graph,
                       std::optional<std::int32_t> unroll = std::nullopt);

/// What a plan may take for granted of a call's sizes.
struct Sizes {
    std::int32_t most_rows = 0;    ///< 0: any number
    std::int32_t most_columns = 0; ///< 0: any number
    double tolerance = 0;          ///< error of products of float32 vectors
};
/// The plan the cost model likes best for the (oriented) graph.
Plan choose_plan(const ir::Graph& graph, Nest nest, Isa isa,
                 const Sizes& sizes = {});
/// Returns every plan worth trying, best first by the model; there are
/// finitely many. `parts` says how products may be multiplied by the matrix
/// unit.
std::vector<Plan> enumerate_plans(const ir::Graph& graph, Nest nest, Isa isa,
                                  const Parts& parts = {});

/// Returns the kind of a plan of the (oriented) graph.
PlanKind kind_of(const ir::Graph& graph, const Plan& plan);
/// Whether reductions take tiles of columns, so that `column_tile` counts.
bool takes_column_tiles(const ir::Graph& graph, const Plan& plan);

} // namespace tilefold
