// compiler/passes/sweeps.h - a graph whose reductions need one another's
// results, cut into sweeps over the pairs that run one after the other.
//
//  1. A sweep is a graph that one kernel computes: its reductions are over
//     the same axes, keep the same axes, and need none of each other.
//  2. What a later sweep needs of an earlier one is an array on the kept axis
//     (or a parameter): never an array on both. Of all values through which it
//     might be handed on, those with the fewest numbers are left behind.
//  3. Reductions that could share a sweep do. A sum over both axes of a few
//     components joins a sweep over one of them, and is finished by a sum
//     over points.
//  4. A result is computed in the last sweep that it needs, if it has the
//     axes that the sweep keeps; else by a map.
#pragma once

#include "compiler/ir/ir.h"

#include <string>
#include <vector>

namespace tilefold {

/// Some components of a sweep's result.
struct SweepPart {
    std::string name; ///< "$3", by which later sweeps read it
    Type type;        ///< of one point's value, on the kept axes
    std::int32_t first = 0;
};

struct Sweep {
    ir::Graph graph;
    std::vector<SweepPart> parts; ///< of the result, in order
};

/// Where a result is when all sweeps have run.
struct ResultPlace {
    int sweep = -1; ///< -1: it is zero
    int part = 0;
};

struct Sweeps {
    std::vector<Sweep> sweeps;
    std::vector<ResultPlace> results;
};

/// Cuts the values that `results` reach into sweeps; a result of no_value is
/// zero.
Sweeps cut(ir::Builder& builder, std::vector<ir::ValueId> results);

/// Whether one kernel can compute the graph: its reductions are over the same
/// axes, of which nothing is left, and none needs another.
bool is_one_sweep(const ir::Graph& graph);

} // namespace tilefold
