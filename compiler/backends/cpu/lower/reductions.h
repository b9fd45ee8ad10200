// compiler/backends/cpu/lower/reductions.h - what a reduction keeps: of a row
// in its state, and of a tile in registers or in scratch.
#pragma once

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/cpu/lower/arena.h"
#include "compiler/monoids/state.h"
#include "compiler/passes/placement.h"

#include <vector>

namespace tilefold {

struct LoweredReduction {
    ir::ValueId id = ir::no_value;
    /// Of what is accumulated: the vector operand's; `dynamic` allowed.
    std::int64_t components = 1;
    std::vector<StateField> fields;
    WidthOffset first_slot; ///< of the fields, in the state's arrays
    /// What a tile accumulates in: the computing dtype, or I64.
    DType partial = DType::F32;
    /// Accumulators lie in scratch: components are a loop.
    bool in_memory = false;
    /// Elements of the computing dtype of one accumulator there.
    int accumulators = 1;
    /// A step only sees columns whose scalars are about to be kept; then a tile
    /// of columns is taken at once.
    bool by_column_tiles = false;
    /// Weighted sums of a softmax are products of matrices.
    bool by_matrices = false;
    /// Vectors of a list, before the accumulators in scratch.
    std::int64_t list_vectors = 0;
    WidthOffset memory; ///< list and accumulators, in scratch
};

/// Sizes of the lists of the K smallest of a row vector.
struct SmallestListSizes {
    std::int64_t k = 1;
    /// Columns whose values are noted together.
    static constexpr std::int64_t together = 4;
    /// Bytes of a column in the queue of those that may be among the smallest.
    static constexpr std::int64_t entry_bytes = 4;

    /// Candidates of a lane that are many: more let a bound grow old, fewer
    /// make all lanes sink for one. The 10 nearest of D=3 on both cores of a
    /// Zen 4, ms: 6.9 (28: 7.7); the 100 nearest: 75 (28: 46).
    std::int64_t many() const;
    /// Of candidates.
    std::int64_t room() const { return many() + together; }
    /// Vectors of the lists.
    std::int64_t vectors() const { return 2 * (k + room()) + 1 + together; }
};

/// Vectors of lanes for each row vector that weights of a tile of columns take,
/// as bf16.
std::int64_t weight_vectors(const Plan& plan);

/// Those of `placement`, with their slots.
std::vector<LoweredReduction> lower_reductions(const ir::Graph& graph,
                                               const Plan& plan,
                                               const Contractions& contractions,
                                               const Placement& placement);
/// Slots of the states of all.
WidthOffset slots_of(const std::vector<LoweredReduction>& reductions);

/// Takes room for the lists and accumulators of each. `vector_bytes`: of the
/// row vectors of a tile; `panel_capacity`: columns of a packed panel.
void place_accumulators(std::vector<LoweredReduction>& reductions,
                        std::int64_t vector_bytes, std::int64_t panel_capacity,
                        Arena& arena);

} // namespace tilefold
