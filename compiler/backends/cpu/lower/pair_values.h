// compiler/backends/cpu/lower/pair_values.h - values of pairs that are kept in
// scratch, because loops over columns come between making and reading them.
#pragma once

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/cpu/lower/arena.h"

#include <map>
#include <vector>

namespace tilefold {

/// Values that are kept for the row vectors of a tile, for each column.
struct Kept {
    std::map<ir::ValueId, std::int64_t> offsets;

    bool empty() const { return offsets.empty(); }
    bool has(ir::ValueId id) const { return offsets.count(id) > 0; }
};

/// A vector of pairs, kept component by component for a step's columns, or for
/// those of a tile where a reduction that takes tiles reads it.
struct KeptVector {
    std::int64_t offset = 0;
    std::int64_t columns = 0;
    std::int64_t least_rows = 0; ///< there is room for so many components
    bool for_tile = false;
};

/// Vectors of pairs that layers read and make, in the order in which they are
/// computed.
struct KeptVectors {
    std::map<ir::ValueId, KeptVector> of;
    /// Products with a matrix are computed so many components at a time: their
    /// sums fill registers.
    int components_at_once = 1;

    bool empty() const { return of.empty(); }
    bool has(ir::ValueId id) const { return of.count(id) > 0; }
};

/// Returns those of `layers`, without their places, where `rows` vectors of
/// pairs of `columns` columns are computed at once.
KeptVectors choose_vectors(const std::set<ir::ValueId>& layers,
                           const Plan& plan, int rows, int columns);
void place_vectors(const ir::Graph& graph, const Plan& plan, int rows,
                   KeptVectors& vectors, Arena& arena);

struct PairValues {
    /// Contractions that are summed by slabs of components, kept for a panel.
    Kept slabs;
    /// Contractions that the matrix unit adds up, and the largest scalars of
    /// pairs below what reductions that take tiles of columns add up. Both are
    /// kept for such a tile; the contractions are kept for a panel where there
    /// are no tiles.
    Kept tiles, scalars;
    KeptVectors vectors;
};

/// `bodies` are the values that reductions by tiles of columns read.
PairValues keep_pair_values(const ir::Graph& graph, const Plan& plan,
                            const Contractions& contractions,
                            const std::vector<ir::ValueId>& bodies,
                            Arena& arena);

} // namespace tilefold
