// compiler/backends/cpu/lower/lowered_kernel.h - a graph and a plan as the
// emitter walks them: what is computed where, how contractions are multiplied,
// how operands lie in scratch, what reductions keep, which loops there are.
//
// Everything that is decided about a kernel's code and is not a number of the
// plan is decided here, once, and printed by `explain`. It is plain data; the
// passes that fill it are free functions of this folder, each testable without
// LLVM.
#pragma once

#include "compiler/backends/cpu/lower/bf16_operands.h"
#include "compiler/backends/cpu/lower/fission.h"
#include "compiler/backends/cpu/lower/operands.h"
#include "compiler/backends/cpu/lower/pair_values.h"
#include "compiler/backends/cpu/lower/reductions.h"
#include "compiler/passes/placement.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilefold {

/// Rows and columns of entries that compute the result itself: `zip`, `dense`.
struct PointEntry {
    Operands rows, columns;
    KeptVectors vectors;      ///< of one vector of pairs
    LoopChains chains;        ///< of pairs
    std::int64_t results = 0; ///< offset of a chunk's results
};

struct LoweredKernel {
    Placement placement;
    Contractions contractions;
    std::vector<LoweredReduction> reductions;
    /// Reductions that make a result of the state of one of `reductions`.
    std::vector<LoweredReduction> readers;

    // These belong to accumulate or, where rows have their results after a
    // panel, to reduce.
    Operands rows, columns;
    std::map<ir::ValueId, SplitProduct> splits; ///< by contraction
    std::map<ir::ValueId, LayerProduct> layers; ///< by contraction
    std::optional<Filter> filter;
    PairValues kept;
    std::int64_t vector_bytes = 0; ///< of the row vectors of a tile
    /// A tile of columns has so many columns, whole squares for the matrix
    /// unit.
    std::int64_t column_tile = 0;
    bool by_column_tiles = false; ///< some reduction takes such tiles
    /// Of a step's columns, so many at a time where they are the last ones; the
    /// rest, one by one.
    std::int32_t last_columns = 1;
    /// Columns are read where the call has them.
    bool reads_in_place = false;
    /// Loops over columns run ahead, in stages.
    bool is_pipelined = false;
    /// Loops over columns are written without what few arguments of functions
    /// need, and anew with it for tiles whose sums are NaN.
    bool leaves_rare_out = false;
    /// Pairs of one row may be computed with lanes over columns.
    bool has_lanes_over_columns = false;
    std::int64_t results = 0; ///< of reduce: offset of a block's results

    Operands epilogue;              ///< of finalise
    std::int64_t chunk_results = 0; ///< of finalise: those of a chunk of rows

    // These belong to kernels that reduce nothing.
    PointEntry zip, dense;

    /// Contractions whose loops are cut: of constants, of pairs where one
    /// vector of them is computed at a time, and of results after reductions.
    /// Those of points are with their operands.
    LoopChains constant_chains, pair_chains, result_chains;
    /// Sines are calls of a function of the image, else they are written in
    /// place.
    bool calls_sines = false;

    WidthOffset scratch; ///< bytes that the largest entry takes

    std::vector<DType> packed; ///< by value: packed_dtype()
};

/// Entries that compute the result itself take so many points at a time.
inline constexpr std::int64_t point_chunk = 256;

/// Lowers an oriented graph by a plan of its nest.
LoweredKernel lower(const ir::Graph& graph, const Plan& plan);

/// The same as print() shows, for `explain`.
nlohmann::ordered_json document_of(const LoweredKernel& kernel,
                                   const ir::Graph& graph, const Plan& plan);

/// Prints what `explain` shows.
std::string print(const LoweredKernel& kernel, const ir::Graph& graph,
                  const Plan& plan);

} // namespace tilefold
