// compiler/backends/cpu/lower/fission.h - a long chain of functions as several
// loops: over the components of a vector, or over points.
//
// A function's chain of operations takes 20 to 60 cycles, and a processor looks
// ahead a few hundred instructions: of thirty functions in one loop, hardly
// two turns overlap. So the loop is cut after every function or so, and what
// the next loop needs is kept in the first cache, for a strip of components or
// points at a time. A sine is all of its loop, which is a function of the image
// then. (Loop fission, or distribution: Kennedy, McKinley, 1990.)
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tilefold {

/// Loops of a chain run for so many vectors, one loop after the other.
inline constexpr std::int64_t vectors_of_strip = 32;

/// A value that a loop leaves for later ones, in memory for a strip.
struct HandedValue {
    ir::ValueId id = ir::no_value;
    std::size_t made = 0, last = 0; ///< the loops that make it and read it last
    std::size_t place = 0;          ///< in LoopChain::places
};

/// One of the loops of a chain.
struct ChainLoop {
    std::vector<ir::ValueId> values; ///< operands first
    /// Where a loop would only compute the sines or cosines of what lies in a
    /// place, and leave them there, a function of the image is called for it.
    std::optional<std::size_t> sines_in_place = {};
};

struct LoopChain {
    std::vector<ChainLoop> loops;
    std::vector<HandedValue> handed;
    std::vector<DType> places; ///< each has room for a strip
    bool empty() const { return loops.empty(); }
};

/// The contractions whose loops over components are cut.
using LoopChains = std::map<ir::ValueId, LoopChain>;

/// Says which values are not computed where a chain is.
using IsLeaf = std::function<bool(ir::ValueId id)>;

/// Cuts a loop over points that computes the scalars `roots`, which are read
/// by others than later loops, too. The chain is empty where functions are few.
LoopChain cut_scalars(const ir::Graph& graph,
                      std::span<const ir::ValueId> roots,
                      const IsLeaf& is_leaf);

/// Cuts the loops of the contractions below `roots` that are not written out
/// in registers. The last loop of each chain adds up.
LoopChains cut_contractions(const ir::Graph& graph, const Plan& plan,
                            std::span<const ir::ValueId> roots,
                            const IsLeaf& is_leaf);

} // namespace tilefold
