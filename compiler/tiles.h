// compiler/tiles.h - the tiles of pairs that a plan may have.
#pragma once

#include "compiler/plan.h"

#include <span>

namespace tilefold {

/// What decides the tile: how a pair's term is made, and what becomes of it.
enum class Work : std::uint8_t {
    Values,       ///< the result as it stands
    Fold,         ///< a user's functions of a long state
    Long,         ///< contractions in a loop over components
    LongSoftmax,  ///< … whose exponentials weigh vectors
    LongList,     ///< … of which the K smallest are kept
    LongLocation, ///< … of which it is asked where the extremes are
    Blocks,       ///< contractions by the matrix unit
    Softmax,      ///< a running maximum: tiles of columns
    List,         ///< sorted lists of the K smallest
    Wide,         ///< sums of vectors
    Extreme,      ///< largest or smallest values
    Location,     ///< … and where they are
    Gradient,     ///< a pair has vectors
    Gradients,    ///< … for several sums
    Short,        ///< all else
    Plain,        ///< … without an exponential, or with several sums of it
    Crowded,      ///< … where stages of several vectors would not fit registers
};

/// R × J, and the cycles of a stage (0: columns run one by one).
struct Tile {
    std::int32_t row_vectors, columns, stage;
};

/// Those of tiles.def, best first; never none.
std::span<const Tile> tiles_for(Work work, const IsaRow& isa, DType real);

} // namespace tilefold
