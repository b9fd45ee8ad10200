// compiler/backends/cuda/plan/model.h - how fast a card is expected to be with
// a plan, by counting instructions; nothing is run or compiled.
#pragma once

#include "compiler/backends/cuda/plan/pair_cost.h"
#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/ir/ir.h"

#include <string>

namespace tilefold::cuda {

/// Of an oriented graph, whose open width is cut by the plan.
PairCost cost_of_pair(const ir::Graph& graph, const Plan& plan);

/// A few lines.
std::string print(const PairCost& cost, const Card& card = {});

} // namespace tilefold::cuda
