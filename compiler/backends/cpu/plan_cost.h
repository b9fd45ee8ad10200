// compiler/backends/cpu/plan_cost.h - what a pair takes, by the cost model.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

namespace tilefold {

/// An exponential of pairs: a long chain of operations.
bool is_power_of_pairs(const ir::Node& node);

/// The model's estimate of one pair's time on one core.
double nanoseconds_per_pair(const ir::Graph& graph, const Plan& plan);
/// Issue slots of the code of one pair: what a tile repeats for each of its.
double code_slots_of_pair(const ir::Graph& graph, const Plan& plan);
/// What a component more takes, of a width that is left open.
double nanoseconds_per_component(const ir::Graph& graph, const Plan& plan);

} // namespace tilefold
