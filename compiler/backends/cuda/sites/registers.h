// compiler/backends/cuda/sites/registers.h - where the values of a graph live
// in the emitted code (see compiler/passes/placement.h), as plain data:
//
//   {}        computed once a call by `prepare`, read as Constants
//   {i}, {j}  computed once a point: a Row in registers, a Column in the tile
//   {i,j}     computed for each pair; a reduction keeps a Partial of a tile of
//             columns and a State of a row, in registers
//   after     what depends on a reduction: once a row, in `write_result`
//
// Plans are chosen by what these records take.
#pragma once

#include "compiler/backends/cuda/sites/contractions.h"
#include "compiler/backends/cuda/sites/reductions.h"
#include "compiler/backends/cuda/text/writer.h"
#include "compiler/passes/placement.h"

#include <map>
#include <optional>
#include <vector>

namespace tilefold::cuda {

/// A value on {} that rows, columns, pairs or results read.
struct Constant {
    ir::ValueId id = ir::no_value;
    Kind kind = Kind::Double; ///< as it is read
    std::int64_t length = 0;  ///< of a vector or matrix; 0: a scalar
    std::int64_t offset = 0;  ///< in call.constants
    std::size_t field = 0;    ///< of the record Constants
    bool in_memory() const { return length > most_copied; }
    /// Each thread has a copy of constants of at most so many components.
    static constexpr std::int64_t most_copied = 16;
};

/// A record of values of the graph, and which field holds which.
struct PointRecord {
    explicit PointRecord(std::string name) : record(std::move(name)) {}
    Record record;
    std::map<ir::ValueId, std::size_t> fields;
};

/// What the loops compute themselves, beside calling the formula's functions.
struct TileProducts {
    bool multiply = false; ///< the product of the pair term
    bool widen = false;    ///< the sums of a Wide
};

struct Registers {
    /// The graph as it is computed: lists of the smallest distances have their
    /// bounds.
    ir::Graph graph;
    Placement placement;
    std::optional<Product> product;
    std::optional<Wide> wide;
    std::vector<Constant> constants;
    Record constants_record{"Constants"};
    /// Fields of a row and of a column, without the vectors that the loops
    /// bring themselves.
    PointRecord row{"Row"}, column{"Column"};
    Record partial{"Partial"}, state{"State"};
    std::vector<LoweredReduction> reductions; ///< by placement.reductions

    const Constant* constant(ir::ValueId id) const;
};

/// Places the values of an oriented graph without an open width. Where nothing
/// is reduced, the result is a value of pairs.
Registers place_registers(ir::Graph graph, const TileProducts& by_tiles);

/// Returns 0 for a scalar, else components_of().
std::int64_t length_of(const Type& type);
/// Returns what a value is called: its argument's name, the axis of an index,
/// else its operation and its number in the printed graph.
std::string name_of(const ir::Graph& graph, ir::ValueId id);

/// Whether reductions over both axes leave one state of a block's rows.
bool folds_blocks(const ir::Graph& graph);
/// Returns the graph with that width, or the graph itself where none is open.
ir::Graph of_width(const ir::Graph& graph, std::int32_t width);

} // namespace tilefold::cuda
