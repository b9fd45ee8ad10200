// compiler/backends/cpu/tiles.h - the tiles of pairs that a plan may have.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/types.h"

#include <span>

namespace tilefold {

/// A tile of R × J pairs, and the cycles of a stage (0: columns run one by
/// one).
struct Tile {
    std::int32_t row_vectors, columns, min_stage_cycles;
};

/// Returns the tiles that tiles.def has for these, best first; there is always
/// one.
std::span<const Tile> tiles_for(PlanKind kind, const IsaRow& isa, DType real);

} // namespace tilefold
