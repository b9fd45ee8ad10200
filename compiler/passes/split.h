// compiler/passes/split.h - a graph split by axes: where each value is
// computed, and what the inner loop reads of what was computed before it.
#pragma once

#include "compiler/ir/ir.h"

#include <string>
#include <vector>

namespace tilefold {

/// Values in the order of the graph.
struct Split {
    /// Computed at a site, and of these the ones that the pair term or a
    /// reduction reads.
    struct Site {
        std::vector<ir::ValueId> computed, crossing;
    };
    Site call;   ///< on {}: once a call, by prepare
    Site row;    ///< on {i}: once a row, while packing
    Site column; ///< on {j}: once a column of a panel, while packing
    /// On {i,j}: for every pair, reductions last.
    std::vector<ir::ValueId> pair;
    /// What the epilogue computes of a row, from the reductions and from
    /// rows alike.
    std::vector<ir::ValueId> finish;
};

/// Of an oriented graph.
Split split(const ir::Graph& graph);

/// Quotients of real numbers that are computed before the pairs are: a divisor
/// on one axis is a factor there, its reciprocal, which is flushed to 0 where
/// the divisor is near the largest number.
std::vector<ir::ValueId> quotients_ahead(const ir::Graph& graph);

/// One line a value, by site; `>` marks what crosses into the inner loop.
std::string print(const Split& split, const ir::Graph& graph);

} // namespace tilefold
