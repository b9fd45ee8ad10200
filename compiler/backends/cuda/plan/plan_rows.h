// compiler/backends/cuda/plan/plan_rows.h - plans of loops that meet pair by
// pair, and of those without pairs.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/ir/ir.h"

#include <optional>

namespace tilefold::cuda {

/// Rows in registers of threads, columns in shared memory; where nothing is
/// reduced, the pair term as it stands. Throws Error(CudaCannot) where columns
/// do not fit shared memory.
Plan plan_of_rows(const ir::Graph& graph, std::int32_t width_block);
/// Few rows, which all threads have; none where columns are too long for
/// registers.
std::optional<Plan> plan_of_columns(const ir::Graph& graph,
                                    std::int32_t width_block);
/// Points of one axis, which are folded.
Plan plan_of_points(const ir::Graph& graph, std::int32_t width_block);

} // namespace tilefold::cuda
