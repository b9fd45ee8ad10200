// compiler/passes/placement.h - split by axes: where each value of a graph is
// computed, and what crosses from one site to the next.
//
//   {}        once a call, by prepare, in double: `constants`
//   {i}, {j}  once a point, while packing: `rows`, `columns`
//   {i,j}     once a pair, in the tile
//   after     what depends on a reduction: once a row, by the epilogue
//
// All backends place values so; how they store what crosses is their own.
#pragma once

#include "compiler/passes/split.h"

#include <map>
#include <set>
#include <vector>

namespace tilefold {

/// The values of one axis that the pair term reads are `crossing`, in the
/// order of the graph. Of these, `computed` are made from `leaves`, which are
/// read from arguments (or count points) and may cross themselves.
struct Packed {
    std::vector<ir::ValueId> leaves, computed, crossing;
};

struct Placement {
    /// Values on {} that others use, with their places in call->constants, in
    /// doubles. I64 are held by their bits; all others as F64, or as a backend
    /// says. Places are in the order in which the graph reads them first.
    std::map<ir::ValueId, std::int64_t> constants;
    std::int64_t constants_size = 0;
    /// Arguments on {} that are read where they lie, and are no constants.
    std::set<ir::ValueId> in_place;
    /// Constants that meet indices or integers, which are read as F64 and
    /// never rounded.
    std::set<ir::ValueId> exact;
    /// What the pair term reads of rows and of columns.
    Packed rows, columns;
    /// What the epilogue reads of rows, as leaves only.
    Packed epilogue;
    /// What the pair term reads when nothing is computed ahead.
    Packed raw_rows, raw_columns;
    std::vector<ir::ValueId> reductions;
    Watched watched;
};

/// Tables of more elements than prepare should copy for each call: arguments
/// of float32 or float64 of which nothing but elements is read.
std::set<ir::ValueId> large_tables(const ir::Graph& graph);

/// `whole_is_pair_term` says that the result itself is evaluated for every
/// pair; `in_place`, what the backend reads where it lies.
Placement place_values(const ir::Graph& graph, bool whole_is_pair_term,
                       std::set<ir::ValueId> in_place = {});

} // namespace tilefold
