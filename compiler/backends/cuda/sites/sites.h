// compiler/backends/cuda/sites/sites.h - where the values of a graph live in
// the emitted code:
//
//   {}        computed once a call by `prepare`, read as Constants
//   {i}, {j}  computed once a point: a Row in registers, a Column in the tile
//   {i,j}     computed for each pair
//   after     what depends on a reduction: once a row, in `write_result`
#pragma once

#include "compiler/backends/cuda/text/writer.h"
#include "compiler/passes/split.h"

#include <map>
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
    /// Components up to which each thread has a copy.
    static constexpr std::int64_t most_copied = 16;
};

/// A record of values of the graph, and which field holds which.
struct Packed {
    explicit Packed(std::string name) : record(std::move(name)) {}
    Record record;
    std::map<ir::ValueId, std::size_t> fields;
};

struct Sites {
    /// `elsewhere`: values on {i} or {j} that the loops bring themselves.
    explicit Sites(const ir::Graph& graph,
                   const std::vector<ir::ValueId>& elsewhere = {});

    std::vector<Constant> constants;
    std::int64_t constants_size = 0; ///< doubles
    Record constants_record{"Constants"};
    Packed row{"Row"}, column{"Column"};
    std::vector<ir::ValueId> reductions;
    /// Whether the reductions merge rows too.
    bool folds_rows = false;

    const Constant* constant(ir::ValueId id) const;
};

/// 0 for a scalar, else components_of().
std::int64_t length_of(const Type& type);
/// What a value is called: its argument's name, the axis' of an index, else
/// its operation and its number in the printed graph.
std::string name_of(const ir::Graph& graph, ir::ValueId id);

} // namespace tilefold::cuda
