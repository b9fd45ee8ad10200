// compiler/backends/cpu/plan_cost.h - what a pair takes, by the cost model.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

namespace tilefold {

/// Whether the node is an exponential of pairs, which is a long chain of
/// operations.
bool is_power_of_pairs(const ir::Node& node);

/// Returns the model's estimate of one pair's time on one core.
double nanoseconds_per_pair(const ir::Graph& graph, const Plan& plan);
/// Returns the issue slots that the code of one pair takes; a tile repeats
/// that code for each of its pairs.
double code_slots_of_pair(const ir::Graph& graph, const Plan& plan);
/// Returns the time that each component takes, where a width is left open.
double nanoseconds_per_component(const ir::Graph& graph, const Plan& plan);

} // namespace tilefold
