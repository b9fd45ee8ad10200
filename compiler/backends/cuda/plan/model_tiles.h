// compiler/backends/cuda/plan/model_tiles.h - what tiles of pairs cost, which
// the loops multiply as matrices are: products of long vectors, and sums of
// vectors.
#pragma once

#include "compiler/backends/cuda/plan/pair_cost.h"
#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"

#include <vector>

namespace tilefold::cuda {

/// Returns the values on {i,j} that the loops compute themselves.
std::vector<ir::ValueId> computed_by_tiles(const Registers& registers);

/// Adds what the loops of a reduction with a product or a Wide compute, and
/// what they take beside it.
void add_tiles(const Registers& registers, const Plan& plan, PairCost& cost);

} // namespace tilefold::cuda
