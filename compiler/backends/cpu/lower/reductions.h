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
    /// The components of what is accumulated, those of the vector operand;
    /// `dynamic` is allowed.
    std::int64_t components = 1;
    std::vector<StateField> fields;
    WidthOffset first_slot; ///< of the fields, in the state's arrays
    /// The dtype a tile accumulates in: the computing dtype, or I64.
    DType partial = DType::F32;
    /// Accumulators lie in scratch, because components are a loop, which holds
    /// those of so many components in registers at a time.
    bool in_memory = false;
    int components_at_once = 1;
    /// Terms are powers of two that nothing else reads: each is scaled while it
    /// is added.
    bool adds_powers = false;
    /// A tile of it ends as NaN where one of its terms is: a sum or a product
    /// of floats in registers.
    bool ends_as_nan = false;
    /// One accumulator there has so many elements of the computing dtype.
    int accumulators = 1;
    /// The reduction takes a tile of columns at once, because a step only sees
    /// columns whose scalars are about to be kept.
    bool by_column_tiles = false;
    /// Weighted sums of a softmax are computed as products of matrices.
    bool by_matrices = false;
    /// A list has so many vectors, which lie before the accumulators in
    /// scratch.
    std::int64_t list_vectors = 0;
    /// So many columns give one bound of a list.
    int columns_of_bound = 1;
    WidthOffset memory; ///< list and accumulators, in scratch
};

/// The sizes of the lists of the K smallest of a row vector.
struct SmallestListSizes {
    std::int64_t k = 1;
    /// The values of so many columns are noted together, as a group.
    static constexpr std::int64_t together = 4;
    /// Cells of so many groups become candidates in one loop, whose end is
    /// mispredicted once, by a bound that is as old as the first of them. One
    /// core of an Emerald Rapids, among 5,000, ms: the 10 nearest of D=8 7.1
    /// (8: 8.6, a loop for each group: 11); times that of the minimum, of D=16:
    /// the 30 nearest 1.8 (8: 1.95), the 60 nearest 3.1 (32: 3.4).
    std::int64_t groups() const { return k < 40 ? 32 : 8; }
    /// A column takes so many bytes in the queue of those that may be among
    /// the smallest.
    static constexpr std::int64_t entry_bytes = 4;

    /// Returns how many candidates of a lane are many: more let a bound grow
    /// old, fewer make all lanes sink for one. The 10 nearest of D=3 on both
    /// cores of a Zen 4, ms: 6.9 (28: 7.7); the 100 nearest: 75 (28: 46).
    std::int64_t many() const;
    /// Returns for how many candidates there is room.
    std::int64_t room() const { return many() + together; }
    /// Returns how many vectors the lists take.
    std::int64_t vectors() const {
        return 2 * (k + room()) + 1 + together * groups();
    }
    /// Returns how many columns give one bound of a list, of a tile of columns
    /// that gives half as many bounds more than there are places: 1 where it
    /// has too few, or where bounds take longer than what they spare.
    int columns_of_bound(std::int64_t column_tile) const;
};

/// Returns how many vectors of lanes the weights of a tile of columns take, as
/// bf16, for each row vector.
std::int64_t weight_vectors(const Plan& plan);

/// Lowers the reductions of `placement` and gives them their slots; but for
/// those that read the state of another one, where there is a state.
std::vector<LoweredReduction> lower_reductions(const ir::Graph& graph,
                                               const Plan& plan,
                                               const Contractions& contractions,
                                               const Placement& placement);
/// Lowers the reductions of `placement` that are not among `reductions`.
std::vector<LoweredReduction>
lower_readers(const ir::Graph& graph, const Placement& placement,
              const std::vector<LoweredReduction>& reductions);
/// Returns how many slots the states of all reductions take.
WidthOffset slots_of(const std::vector<LoweredReduction>& reductions);

/// Takes room for the lists and accumulators of each reduction. `vector_bytes`
/// are those of a tile's row vectors, `panel_capacity` the columns of a packed
/// panel.
void place_accumulators(std::vector<LoweredReduction>& reductions,
                        std::int64_t vector_bytes, std::int64_t panel_capacity,
                        Arena& arena);

} // namespace tilefold
