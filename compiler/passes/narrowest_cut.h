// compiler/passes/narrowest_cut.h - the fewest numbers through which all that
// some values need of others goes.
#pragma once

#include "compiler/ir/ir.h"

#include <functional>
#include <span>
#include <vector>

namespace tilefold::ir {

/// What is computed between sources and sinks of a graph.
struct CutQuestion {
    std::span<const ValueId> sinks;
    /// The values at which the way down from the sinks ends.
    std::function<bool(ValueId)> is_end;
    /// Whether an end is a source: its value has to cross the cut.
    std::function<bool(ValueId)> is_source;
    /// Whether a value may be kept, and so be part of the cut. Sources may.
    std::function<bool(ValueId)> is_kept;
};

/// Returns values of which every way from a source to a sink has one, with the
/// fewest components together; of several such sets, the one nearest to the
/// sources. Ford and Fulkerson, Maximal flow through a network, 1956.
std::vector<ValueId> narrowest_cut(const Graph& graph,
                                   const CutQuestion& question);

} // namespace tilefold::ir
