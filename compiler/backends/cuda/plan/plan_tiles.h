// compiler/backends/cuda/plan/plan_tiles.h - plans of loops that compute tiles
// of pairs.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"
#include "compiler/ir/ir.h"

#include <optional>

namespace tilefold::cuda {

/// Products of vectors, where they pay and fit.
std::optional<Plan> plan_of_tiles(const Registers& registers,
                                  std::int32_t width_block, double tolerance,
                                  bool tensor_cores);
/// Weights times values on tensor cores, where they pay and fit.
std::optional<Plan> plan_of_wide(const ir::Graph& graph,
                                 std::int32_t width_block, double tolerance);

} // namespace tilefold::cuda
