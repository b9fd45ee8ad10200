// compiler/backends/cuda/plan/plan_segments.h - what decides into how many
// segments the columns of a call are cut.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"

#include <cstdint>

namespace tilefold::cuda {

/// Returns the plan with the blocks that a multiprocessor is expected to hold,
/// and with what another state of a row costs.
Plan with_segments(Plan plan, const Registers& registers);

/// Returns the number of segments with which `row_blocks` blocks of rows, each
/// of which meets `tiles` tiles of columns, are expected to take the least
/// time: few enough that states cost little, and as many as it takes for the
/// last blocks to leave little of a card idle. A function of sizes and of the
/// plan alone: bits of results depend on it.
std::int64_t segment_count(const Plan& plan, std::int64_t row_blocks,
                           std::int64_t tiles);

} // namespace tilefold::cuda
