// compiler/backends/llvm/monoids/monoid.h - reductions as code: registers of a
// tile, state of a row, and how one goes into the other.
//
// 1. State holds `fields`, each of one component or of the body's; element
//    types are f64 and i64. A field's identity is its value over no columns.
// 2. A tile accumulates in the computing dtype over one panel (start, step
//    for some columns at a time, finish_tile), which then merges into the
//    state in f64.
// 3. merge(into, from) needs `from` to cover later columns or rows: ties go
//    to the lower index, which fields hold where it matters.
#pragma once

#include "compiler/backends/llvm/evaluate/evaluate.h"
#include "compiler/backends/llvm/matmul/value_matmul.h"
#include "compiler/backends/llvm/module/module.h"
#include "compiler/backends/llvm/monoids/lane_arithmetic.h"

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace tilefold::llvm_backend {

/// State elements of a vector of rows in registers, by field and component.
using HeldState = std::map<std::pair<int, std::int64_t>, llvm::Value*>;

/// Loads and stores state elements of one vector of rows.
class StateRows {
public:
    /// The monoid's first slot is `first_slot` + `first_slot_per_width` *
    /// width.
    StateRows(Lanes& lanes, const std::vector<StateField>& fields,
              llvm::Value* state, llvm::Value* stride, llvm::Value* row,
              llvm::Value* first_slot)
        : lanes_(lanes), fields_(fields), state_(state), stride_(stride),
          row_(row), first_slot_(first_slot) {}
    /// The fields have fixed components, which are all in `held`.
    StateRows(Lanes& lanes, const std::vector<StateField>& fields,
              HeldState& held)
        : lanes_(lanes), fields_(fields), held_(&held) {}

    llvm::Value* load(int field, Component component = {}) const;
    void store(int field, Component component, llvm::Value* value) const;
    /// A place of the algebra.
    struct Place {
        const StateRows& rows;
        int field;
        Component component;

        llvm::Value* load() const { return rows.load(field, component); }
        void store(llvm::Value* value) const {
            rows.store(field, component, value);
        }
    };
    Place at(int field, Component component = {}) const {
        return {*this, field, component};
    }
    /// Loads another component in each lane: `components` are I64 lanes.
    llvm::Value* gather(int field, llvm::Value* components) const;
    /// Only rows in `mask` are read and written from now on.
    void set_mask(llvm::Value* mask) { mask_ = mask; }

private:
    llvm::Value* slot_of(int field) const;
    llvm::Value* address(int field, Component component) const;

    Lanes& lanes_;
    const std::vector<StateField>& fields_;
    HeldState* held_ = nullptr; ///< null: in memory, as follows
    llvm::Value *state_ = nullptr, *stride_ = nullptr, *row_ = nullptr;
    llvm::Value* first_slot_ = nullptr;
    llvm::Value* mask_ = nullptr;
};

/// A tile under way, as a monoid sees it.
struct Tile {
    ModuleWriter& writer;
    Lanes& lanes;
    Evaluator& values;
    const FunctionTable& functions;
    int rows = 1;                  ///< vectors of rows
    int columns = 1;               ///< columns of the present step
    llvm::Value* column = nullptr; ///< of the step's first, in the panel
    llvm::Value* panel = nullptr;  ///< number of the panel's first column
    /// For each row vector, the number that an index counts from (0, or i * M
    /// where both axes are reduced).
    std::vector<llvm::Value*> index_base = {};
    std::vector<StateRows*> state = {};    ///< by row vector, of this monoid
    std::vector<llvm::Value*> points = {}; ///< its first row, in the block
    /// Returns the body's component for one row, in the block, and for the
    /// columns of the panel from `column` on, a multiple of the lanes, which
    /// run over them. It is null where vectors do not lie so.
    std::function<llvm::Value*(llvm::Value* row, llvm::Value* column,
                               Component component)>
        across = {};
    /// Memory for accumulators that do not fit registers; `list` is memory for
    /// the monoid's list.
    llvm::Value* memory = nullptr;
    llvm::Value* list = nullptr;
    /// The bounds of the present tile of columns, in the panel.
    llvm::Value *first = nullptr, *end = nullptr;
    /// Runs a body for some of these columns: `columns` from `column` on
    /// become the tile's. What is read of columns beyond `end` means nothing.
    std::function<void(llvm::Value* column, int columns,
                       const std::function<void()>& body)>
        at_columns = {};
    const ValueMatmul* blocks = nullptr; ///< where they take weighted sums
};

/// Runs a body for all columns of a tile of columns, at most `step` at a time;
/// the tile's `column` and `columns` are those of the step.
using EachStep =
    std::function<void(int step, const std::function<void()>& body)>;

/// A reduction that need not see values that are not small. A tile of columns
/// passes either as ever, by step and take, or by these functions.
class FilteredList {
public:
    virtual ~FilteredList() = default;
    /// Returns an i1: whether the reduction needs all columns of the tile.
    virtual llvm::Value* wants_all(Tile& tile) = 0;
    /// Returns what a value must be less than, for a row vector.
    virtual llvm::Value* worst(Tile& tile, int r) = 0;
    /// Notes the lanes in which the value of the tile's one column may be
    /// small enough.
    virtual void take_filtered(Tile& tile, int r, llvm::Value* passes) = 0;
    /// Returns how many columns passed; passed_column() returns one of them,
    /// in the panel.
    virtual llvm::Value* passed(Tile& tile, int r) = 0;
    virtual llvm::Value* passed_column(Tile& tile, int r,
                                       llvm::Value* number) = 0;
    /// Takes the tile's one column; finish_passed() ends this, after all that
    /// passed were taken.
    virtual void take_passed(Tile& tile, int r) = 0;
    virtual void finish_passed(Tile& tile, int r) = 0;
};

/// A reduction of the graph as code. One object per Reduce node.
class MonoidWriter {
public:
    /// The graph and the lowered reduction outlive the writer.
    MonoidWriter(const ir::Graph& graph, const LoweredReduction& lowered)
        : graph_(graph), lowered_(lowered), reduce_(lowered.id),
          components_(lowered.components) {}
    virtual ~MonoidWriter() = default;

    const std::vector<StateField>& fields() const { return lowered_.fields; }

    /// Returns the identity of a field's component, in the field's dtype.
    /// `values` knows the constants of the call.
    virtual llvm::Value* identity(Evaluator& values, int field,
                                  Component component) const;
    virtual void start(Tile& tile) = 0;
    virtual void step(Tile& tile) = 0;
    /// Takes a tile of columns at once, where the reduction is by such tiles.
    virtual void take(Tile&, const EachStep&) {}
    virtual FilteredList* filtered() {
        return nullptr;
    } ///< itself, where it is one
    virtual void finish_tile(Tile& tile) = 0;
    /// Returns truth lanes: whether an accumulator of row vector `r` is NaN,
    /// where it ends so.
    virtual llvm::Value* has_nan(Tile& tile, int /*r*/) {
        return tile.lanes.number(DType::Bool, 0);
    }
    /// Emits into ⊕= from. `values` serves for loops over components, and
    /// knows the constants of the call.
    virtual void merge(Evaluator& values, const FunctionTable& functions,
                       StateRows& into, StateRows& from) = 0;
    /// Whether reduce_rows() does what merges of halves would do.
    virtual bool reduces_rows() const { return false; }
    /// Whether one accumulator may take points of many rows, one after the
    /// other, as it takes columns; for a row's column is its distance from the
    /// first.
    virtual bool takes_points() const { return reduces_rows(); }
    /// Merges rows [0, rows) onto row 0. `rows_from` gives a vector of rows,
    /// of which lanes beyond the last row mean nothing.
    using RowsFrom = std::function<StateRows(llvm::Value* row)>;
    virtual void reduce_rows(Evaluator&, const RowsFrom&,
                             llvm::Value* /*rows*/) {}
    /// Returns a component of the finished result, in the node's dtype.
    /// `terms`, an I64 scalar, is how many were added.
    virtual llvm::Value* result(Lanes& lanes, const FunctionTable& functions,
                                StateRows& state, Component component,
                                llvm::Value* terms) = 0;

protected:
    Algebra<LaneArithmetic> algebra(Lanes& lanes) const {
        return {node(), LaneArithmetic(lanes)};
    }
    const ir::Node& node() const { return graph_[reduce_]; }
    const ir::ReductionRow& row() const {
        return ir::row_of(ir::Reduction(node().first));
    }
    ir::ValueId body(int operand = 0) const {
        return node().operands[std::size_t(operand)];
    }
    /// Returns the value of a body's component in the computing dtype.
    llvm::Value* read(Tile& tile, int operand, Component component, int r,
                      int j) const;
    /// Returns room for one accumulator of a row vector: a register while
    /// components are unrolled, else memory in `tile.memory`.
    llvm::Value* place(Tile& tile, int which, Component component, int r,
                       llvm::Type* type);
    llvm::Value* place_in_memory(Tile& tile, int which, Component component,
                                 int r) const;
    /// For each accumulator in memory, a register starts as first(it, r),
    /// becomes next(register, k, r, j) for each column, and the accumulator
    /// becomes last(register, it, r) in the end. Some components of all rows
    /// are in registers at a time, while the columns of a tile pass. `address`
    /// gives the accumulator of (k, r).
    using Address = std::function<llvm::Value*(Component, int)>;
    using First = std::function<llvm::Value*(llvm::Value*, int)>;
    using Next = std::function<llvm::Value*(llvm::Value*, Component, int, int)>;
    using Last = std::function<llvm::Value*(llvm::Value*, llvm::Value*, int)>;
    void update(Tile& tile, const EachStep& each_step, llvm::Type* type,
                const Address& address, const First& first, const Next& next,
                const Last& last);

    const ir::Graph& graph_;
    const LoweredReduction& lowered_;
    const ir::ValueId reduce_;
    const std::int64_t components_; ///< of the body; `dynamic` allowed

private:
    std::map<std::tuple<int, std::int64_t, int>, llvm::Value*> registers_;
};

std::unique_ptr<MonoidWriter> make_monoid(const ir::Graph& graph,
                                          const LoweredReduction& lowered);

/// Each family of monoids has a file of its own.
std::unique_ptr<MonoidWriter> make_plain(const ir::Graph& graph,
                                         const LoweredReduction& lowered);
std::unique_ptr<MonoidWriter> make_arg(const ir::Graph& graph,
                                       const LoweredReduction& lowered);
std::unique_ptr<MonoidWriter> make_exponential(const ir::Graph& graph,
                                               const LoweredReduction& lowered);
std::unique_ptr<MonoidWriter> make_k_minimum(const ir::Graph& graph,
                                             const LoweredReduction& lowered);
std::unique_ptr<MonoidWriter> make_fold(const ir::Graph& graph,
                                        const LoweredReduction& lowered);

} // namespace tilefold::llvm_backend
