// compiler/backends/cuda/plan/model.h - how fast a card is expected to be with
// a plan, by counting instructions; nothing is run or compiled.
#pragma once

#include "compiler/backends/cuda/plan/pair_cost.h"
#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/ir/ir.h"

#include <string>

namespace tilefold::cuda {

/// Counts what a pair of an oriented graph takes; the plan cuts its open
/// width.
PairCost cost_of_pair(const ir::Graph& graph, const Plan& plan);

/// Prints the cost in a few lines.
std::string print(const PairCost& cost, const Card& card = {});

} // namespace tilefold::cuda
