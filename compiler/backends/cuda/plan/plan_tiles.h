// compiler/backends/cuda/plan/plan_tiles.h - plans of loops that compute tiles
// of pairs.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"
#include "compiler/ir/ir.h"

#include <optional>

namespace tilefold::cuda {

/// Returns the plan that computes products of vectors by tiles, where they pay
/// and fit.
std::optional<Plan> plan_of_tiles(const Registers& registers,
                                  std::int32_t width_block, double tolerance,
                                  bool tensor_cores);
/// Returns the plan that sums weights times values on tensor cores, where that
/// pays and fits.
std::optional<Plan> plan_of_wide(const ir::Graph& graph,
                                 std::int32_t width_block, double tolerance);

} // namespace tilefold::cuda
