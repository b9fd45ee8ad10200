// compiler/backends/cuda/sites/reductions.h - what a thread keeps of a
// reduction: of a tile of columns in a Partial, of a row in a State.
#pragma once

#include "compiler/backends/cuda/text/writer.h"
#include "compiler/monoids/state.h"

#include <vector>

namespace tilefold::cuda {

/// A member of the record Partial, in the dtype that a tile's terms are
/// accumulated in, or a number of a column.
struct PartialField {
    std::string_view name;
    Kind kind = Kind::Float;
    std::int64_t length = 0; ///< of an array; 0: a scalar
};

struct LoweredReduction {
    ir::ValueId id = ir::no_value;
    std::vector<StateField> state;
    std::vector<PartialField> partial;
    /// Where the reduction's fields begin in the records State and Partial.
    std::size_t first_state = 0, first_partial = 0;
    /// A lower bound says of most pairs that they are not among the smallest.
    bool is_filtered = false;
};

/// Returns the length of the array that a field is, or 0 for a scalar.
std::int64_t length_of(const StateField& field);

/// Lowers the Reduce node `id`, whose fields become members of the two
/// records.
LoweredReduction lower_reduction(const ir::Graph& graph, ir::ValueId id,
                                 Record& partial, Record& state);

} // namespace tilefold::cuda
