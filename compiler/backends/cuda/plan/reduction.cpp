// compiler/backends/cuda/plan/reduction.cpp - a graph as the emitter sees it.

#include "compiler/backends/cuda/plan/reduction.h"

#include "compiler/backends/cuda/sites/bounded.h"
#include "compiler/passes/dynamic_width.h"

#include <algorithm>

namespace tilefold::cuda {

namespace {

/// What the loops bring themselves.
std::vector<ir::ValueId> vectors_of(const std::optional<Product>& product,
                                    const std::optional<Wide>& wide) {
    std::vector<ir::ValueId> vectors;
    if (product)
        vectors = {product->left, product->right};
    if (wide)
        vectors.push_back(wide->value);
    return vectors;
}

} // namespace

Reduction::Reduction(ir::Graph of, Loops loops)
    : graph(loops.multiply || loops.widen ? std::move(of) : bounded(of)),
      product(loops.multiply ? find_product(graph) : std::nullopt),
      wide(loops.widen ? find_wide(graph) : std::nullopt),
      sites(graph, vectors_of(product, wide)) {
    for (ir::ValueId id : sites.reductions)
        monoids.push_back(make_monoid(graph, id, partial, state));
}

Monoid& Reduction::monoid_of(ir::ValueId reduce) const {
    const auto place = std::ranges::find(sites.reductions, reduce);
    return *monoids[std::size_t(place - sites.reductions.begin())];
}

bool folds_blocks(const ir::Graph& graph) {
    return folds_rows(graph) && !chooses_pairs(graph);
}

ir::Graph of_width(const ir::Graph& graph, std::int32_t width) {
    const std::int32_t open = open_argument(graph);
    return open < 0 ? graph : with_width(graph, std::size_t(open), width);
}

} // namespace tilefold::cuda
