// compiler/backends/llvm/nest/tile_leaves.h - what a pair's term reads in a
// tile, and values of pairs that are kept in scratch.
#pragma once

#include "compiler/backends/llvm/monoids/monoid.h"
#include "compiler/backends/llvm/nest/nest.h"

#include <map>
#include <set>
#include <tuple>

namespace tilefold::llvm_backend {

/// What a pair's term reads: constants; a vector of rows, kept for the tile;
/// one column's value in all lanes; finished sums of deep contractions; and,
/// from show_scalars on, scalars of the present tile of columns.
class TileLeaves {
public:
    TileLeaves(Entry& entry, const Pack& rows, const Pack& columns,
               llvm::Value* scratch)
        : entry_(entry), rows_(rows), columns_(columns),
          kept_(entry.writer.kernel.kept), scratch_(scratch) {}

    /// Returns an empty leaf where the value is none of these.
    Leaf leaf(ir::ValueId id);

    /// Begins the tile of rows from `row` on: loads what stays in registers.
    void begin_tile(llvm::Value* row);
    /// Begins the tile of columns from column `first` of the panel on.
    void begin_column_tile(llvm::Value* first) { first_ = first; }
    void begin_columns(llvm::Value* column) {
        column_ = column;
        listed_.clear();
        vectors_.clear();
    }
    /// A vector of pairs has been kept for the present columns.
    void show_vector(ir::ValueId id) { vectors_.insert(id); }
    /// Takes columns that need not be neighbours; their scalars lie from
    /// `place` on.
    void begin_listed(std::vector<llvm::Value*> columns, llvm::Value* place) {
        column_ = place;
        listed_ = std::move(columns);
    }
    void show_scalars(bool shown) { shown_ = shown; }
    /// From now on, columns are read where the call has them.
    void read_in_place();

    /// These return where the tile's sums by blocks lie, where a sum of a deep
    /// contraction lies, and where a scalar does.
    llvm::Value* first_sum(ir::ValueId id) const {
        return entry_.lanes.byte_offset(scratch_, kept_.tiles.offsets.at(id));
    }
    llvm::Value* sum_address(ir::ValueId id, int row, int column) const {
        return address(kept_.slabs, id, column_, row, column);
    }
    llvm::Value* scalar_address(ir::ValueId id, int row, int column) const {
        return in_column_tile(kept_.scalars, id, row, column);
    }
    /// Returns where a component of a vector of pairs is kept.
    llvm::Value* vector_address(ir::ValueId id, Component component, int row,
                                int column) const;

private:
    llvm::Value* read(ir::ValueId id, Component component, int row, int column);
    llvm::Value* address(const Kept& kept, ir::ValueId id,
                         llvm::Value* at_column, int row, int column) const;
    llvm::Value* in_column_tile(const Kept& kept, ir::ValueId id, int row,
                                int column) const {
        return address(kept, id, entry_.b.CreateSub(column_, first_), row,
                       column);
    }
    bool is_shown(ir::ValueId id) const;
    llvm::Value* finished_sum(ir::ValueId id, int row, int column);
    llvm::Value* load_row(ir::ValueId id, Component component, int r);
    llvm::Value* read_row(ir::ValueId id, Component component, int r);
    llvm::Value* read_column(ir::ValueId id, Component component, int column);
    llvm::Value* read_in_place(ir::ValueId id, Component component,
                               llvm::Value* column);

    Entry& entry_;
    const Pack& rows_;
    const Pack& columns_;
    const PairValues& kept_;
    llvm::Value* scratch_;
    bool shown_ = false;
    llvm::Value* row_ = nullptr;
    llvm::Value* first_ = nullptr;
    llvm::Value* column_ = nullptr;
    std::vector<llvm::Value*> listed_ = {};
    std::set<ir::ValueId> vectors_; ///< that are kept for these columns
    /// An array on the columns' axis, of columns that are read in place.
    struct Source {
        llvm::Value *base, *stride, *step;
    };
    std::map<ir::ValueId, Source> sources_;
    std::map<std::tuple<ir::ValueId, std::int64_t, int>, llvm::Value*>
        in_registers_;
};

} // namespace tilefold::llvm_backend
