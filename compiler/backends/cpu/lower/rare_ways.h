// compiler/backends/cpu/lower/rare_ways.h - whether loops over columns are
// written without what few arguments need of functions.
//
// A sine of large numbers, or a lgamma of negative ones, is left to a library
// behind a branch, which keeps the loop around it from being cut into stages.
// Where NaN certainly reaches a sum, the loop is written without the branch and
// gives NaN there; for a tile whose sums are NaN it is then run anew, with it.
#pragma once

#include "compiler/backends/cpu/lower/reductions.h"

#include <vector>

namespace tilefold {

/// Whether some value of pairs has such a way, and each that has is short and
/// makes a sum of `reductions` NaN where its argument is one of the few.
bool sums_tell_rare(const ir::Graph& graph,
                    const std::vector<LoweredReduction>& reductions);

} // namespace tilefold
