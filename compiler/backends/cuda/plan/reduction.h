// compiler/backends/cuda/plan/reduction.h - a graph as the emitter sees it:
// where its values live, and its reductions with their registers.
#pragma once

#include "compiler/backends/cuda/evaluate/product.h"
#include "compiler/backends/cuda/evaluate/wide.h"
#include "compiler/backends/cuda/monoids/monoid.h"
#include "compiler/ir/queries.h"

#include <memory>
#include <vector>

namespace tilefold::cuda {

/// The records and monoids of a graph; `graph` stays where it is.
struct Reduction {
    /// What the loops do beside calling the formula's functions.
    struct Loops {
        bool multiply = false; ///< the product
        bool widen = false;    ///< the sums of a Wide
    };
    Reduction(ir::Graph of, Loops loops);
    Reduction(const Reduction&) = delete;
    Reduction& operator=(const Reduction&) = delete;

    ir::Graph graph;
    std::optional<Product> product;
    std::optional<Wide> wide;
    Sites sites;
    Record partial{"Partial"}, state{"State"};
    std::vector<std::unique_ptr<Monoid>> monoids; ///< by sites.reductions

    Monoid& monoid_of(ir::ValueId reduce) const;
};

/// Whether reductions over both axes leave one state of a block's rows.
bool folds_blocks(const ir::Graph& graph);
/// The graph with that width; the graph itself where none is open.
ir::Graph of_width(const ir::Graph& graph, std::int32_t width);

} // namespace tilefold::cuda
