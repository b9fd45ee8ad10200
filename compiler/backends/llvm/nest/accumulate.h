// compiler/backends/llvm/nest/accumulate.h - the loop nest of a reduction under
// way.
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/llvm/matmul/bf16_splits.h"
#include "compiler/backends/llvm/matmul/layer_products.h"
#include "compiler/backends/llvm/matmul/lower_bound_filter.h"
#include "compiler/backends/llvm/nest/nest.h"
#include "compiler/backends/llvm/nest/tile_culling.h"
#include "compiler/backends/llvm/nest/tile_leaves.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tilefold::llvm_backend {

/// Writes accumulate, or, of plans for rows, reduce.
class Accumulate {
public:
    Accumulate(ModuleWriter& writer, std::vector<Slots>& reductions);

    void write();

private:
    using Value = llvm::Value;
    using ValueId = ir::ValueId;

    void write_panels(Value* rows);

    /// Writes all columns as one panel, after which rows have their results.
    void write_rows(Value* rows);

    int tile_rows() const {
        return writer_.plan.row_vectors * entry_.lanes.width();
    }

    void write_panel(Value* panel, Value* rows, Value* count);
    void write_row_tiles(Value* rows, Value* panel, Value* count);
    void write_tiles_from(Value* first, Value* rows, Value* panel,
                          Value* count);
    /// Whether rows are merged to one, which no order of theirs changes, and
    /// no value depends on a column: all tiles may have the same accumulators.
    bool shares_accumulators() const;
    /// Adds whole tiles of rows to the state of the first tile, where there is
    /// one column: a tile's row is its column there. Returns the number of
    /// their rows.
    Value* write_shared_tiles(Value* rows, Value* panel);
    /// Emits `body`, which is passed over where masks prove that none of these
    /// pairs counts: `rows` rows from row `row` of the block on, `count`
    /// columns from `first_column` on. Then so many tiles are noted as left
    /// out.
    void where_pairs_count(Value* row, Value* rows, Value* first_column,
                           Value* count, Value* tiles,
                           const std::function<void()>& body);

    Value* i0() { return entry_.argument(1); }
    Value* scratch() { return entry_.argument(keeps_state_ ? 7 : 3); }

    const LoweredKernel& kernel() const { return writer_.kernel; }
    const LoweredReduction& lowered(std::size_t number) const {
        return reductions_[number].lowered;
    }

    ValueMatmul empty_blocks() const;

    /// Returns a ValueMatmul whose `values` are null where blocks do not take
    /// the sums.
    ValueMatmul blocks_of(std::size_t number);

    /// Transposes the panel's values that blocks take.
    void transpose_all_values(Value* count);

    /// Returns a reduction's memory in scratch: its list, and what follows it.
    Value* memory(std::size_t number);
    Value* accumulators(std::size_t number);

    void write_tile(Value* row, Value* panel, Value* count);
    void start_tile(Value* row, Value* panel);
    void finish_tile(Value* row, Value* panel);

    /// Writes all columns of a tile without what few arguments need, and anew
    /// with it where a sum is NaN.
    void write_twice(Value* row, Value* panel, Value* count);
    /// Returns whether a sum of a row of the tile is NaN.
    Value* has_nan(Value* row, Value* panel);

    HeldState& held(std::size_t number, int r) {
        return held_[number * std::size_t(writer_.plan.row_vectors) +
                     std::size_t(r)];
    }

    void hold_identities();

    /// Writes the results of a tile of rows.
    void write_results(Value* row);

    /// Writes columns [first, end): a tile of them, or all where nothing takes
    /// tiles.
    void write_column_tile(Value* row, Value* panel, Value* first, Value* end);

    void write_all_columns(Value* row, Value* panel, Value* first, Value* end);

    FilteredList& filtered() { return *reductions_[0].monoid->filtered(); }

    /// Lets the only reduction take what passes the filter; that is computed
    /// one by one.
    void write_filtered(Value* row, Value* panel, Value* first, Value* end);

    /// Takes what passed. All distances come first, some columns side by side,
    /// since each is one long chain; then they are kept, and no branch waits
    /// for such a chain.
    void take_passed(Tile& tile, int r, Value* first);

    /// Hands columns [first, end), whose scalars are kept, to a reduction.
    void take(std::size_t number, Value* row, Value* panel, Value* first,
              Value* end);

    void at_columns(Tile& tile, Value* column, int columns,
                    const std::function<void()>& body);

    /// Calls `body` for columns [from, to), `columns` at a time and the rest
    /// one by one. Returns the branch that closes the first of the loops.
    llvm::Instruction* each_step(Value* from, Value* to, int columns,
                                 const std::function<void(Value*, int)>& body);

    /// Writes all sums of a contraction for the tile, one part of the
    /// components after another, so that a part of the rows stays in the first
    /// cache for all columns.
    void write_deep(ValueId id, Value* count);

    /// Writes the sums of columns [first, end), a block of sums at a time.
    void write_blocks(ValueId id, Value* row, Value* first, Value* end);

    TileProduct product_of_words(ValueId id, Value* row, Value* first);

    void run_contractions(ValueId reduce, int columns);

    void write_steps(Value* row, Value* panel, Value* from, Value* to);
    void write_step(Value* row, Value* panel, Value* column, int columns);

    void keep_vectors(int columns);
    void keep_scalars(int columns);

    /// Makes the tile of reduction `number` and hands it to `body`.
    void run(std::size_t number, Value* row, Value* panel,
             const std::function<void(Tile&)>& body, Value* column = nullptr,
             int columns = 1);

    /// Returns what a column's index counts from: i * M where both axes are
    /// reduced.
    Value* index_base(std::size_t number, Value* point);

    ModuleWriter& writer_;
    std::vector<Slots>& reductions_;
    const bool keeps_state_; ///< else rows have their results after a panel
    Entry entry_;
    Pack rows_;
    FactorSplits parts_;
    LayerProducts layers_;
    LowerBoundFilter filter_;
    Pack columns_;
    TileGuard guard_;
    TileLeaves leaves_;
    Evaluator values_;
    std::vector<HeldState> held_; ///< where there is no other state
    std::optional<ResultBuffer> results_;
};

} // namespace tilefold::llvm_backend
