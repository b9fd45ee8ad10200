// compiler/backends/cuda/plan/plan_rows.h - plans of loops that meet pair by
// pair, and of those without pairs.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/ir/ir.h"

#include <optional>

namespace tilefold::cuda {

/// Returns the plan with rows in registers of threads and columns in shared
/// memory; where nothing is reduced, it computes the pair term as it stands.
/// Throws Error(CudaCannot) where columns do not fit shared memory.
Plan plan_of_rows(const ir::Graph& graph, std::int32_t width_block);
/// Returns the plan for few rows, which all threads have, or none where
/// columns are too long for registers.
std::optional<Plan> plan_of_columns(const ir::Graph& graph,
                                    std::int32_t width_block);
/// Returns the plan for points of one axis, which are folded.
Plan plan_of_points(const ir::Graph& graph, std::int32_t width_block);

} // namespace tilefold::cuda
