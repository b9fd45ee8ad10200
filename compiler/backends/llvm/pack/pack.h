// compiler/backends/llvm/pack/pack.h - the values of a run of points along one
// axis, read and computed into scratch where lower/operands.h placed them.
// A component of a vector packed as words is a word, or what follows them.
#pragma once

#include "compiler/backends/llvm/evaluate/evaluate.h"
#include "compiler/backends/llvm/module/module.h"

#include <map>

namespace tilefold::llvm_backend {

struct Entry;

/// The part of scratch that holds one axis' values.
class Pack {
public:
    /// `operands` outlive the pack; `width` is call->width, where values of
    /// that width are packed.
    Pack(ModuleWriter& writer, const Operands& operands,
         llvm::Value* width = nullptr)
        : writer_(writer), operands_(operands), width_(width) {}

    bool has(ir::ValueId id) const { return operands_.has(id); }
    std::int64_t capacity() const { return operands_.capacity; }
    /// Returns the bytes from tile to tile, or from point to point, of a value
    /// that lies so.
    std::int64_t run(ir::ValueId id) const { return operands_.of.at(id).run; }

    /// Reads points [first, first + count) of the arguments and computes what
    /// is made of them. Lanes beyond the last point, up to a tile and a vector,
    /// are zero, or computed from zeros: nothing depends on what the memory
    /// held before.
    void fill(Entry& entry, llvm::Value* first, llvm::Value* count,
              llvm::Value* scratch) const;

    /// Returns the address of component `component` of point `point` (an index
    /// in the run).
    llvm::Value* address(const Lanes& lanes, llvm::Value* scratch,
                         ir::ValueId id, Component component,
                         llvm::Value* point) const;
    /// Returns lanes of that component, for points from `point` on.
    llvm::Value* read_points(const Lanes& lanes, llvm::Value* scratch,
                             ir::ValueId id, Component component,
                             llvm::Value* point) const;

private:
    llvm::Value* run_of(const Lanes& lanes, const Operand& operand) const;
    /// An argument as the call has it.
    struct Source {
        llvm::Function* load;
        llvm::Value *base, *stride, *step, *list;
    };
    llvm::Value* list_of(Lanes& lanes, llvm::Value* call) const;
    llvm::Value* padded(Lanes& lanes, llvm::Value* count) const;
    void clear_rest(Lanes& lanes, ir::ValueId id, llvm::Value* count,
                    llvm::Value* scratch, std::int64_t components) const;
    void clear_points(Lanes& lanes, ir::ValueId id, llvm::Value* count,
                      llvm::Value* scratch, llvm::Value* components) const;
    Source source_of(Lanes& lanes, ir::ValueId id, llvm::Value* call) const;
    void load_leaf(Lanes& lanes, ir::ValueId id, llvm::Value* call,
                   llvm::Value* first, llvm::Value* count, llvm::Value* scratch,
                   llvm::Value* width) const;
    void load_components(Lanes& lanes, ir::ValueId id, const Source& source,
                         llvm::Value* first, llvm::Value* count,
                         llvm::Value* padded, llvm::Value* scratch,
                         llvm::Value* component, llvm::Value* components,
                         llvm::Value* point) const;
    static llvm::Value* are_neighbours(Lanes& lanes, const Source& source,
                                       std::int64_t size);
    llvm::Value* load_interleaved(Lanes& lanes, ir::ValueId id,
                                  const Source& source, llvm::Value* first,
                                  llvm::Value* count,
                                  llvm::Value* scratch) const;
    void load_tile(Lanes& lanes, ir::ValueId id, const Source& source,
                   llvm::Value* first, llvm::Value* count, llvm::Value* scratch,
                   llvm::Value* point) const;
    llvm::Value* load_squares(Lanes& lanes, ir::ValueId id,
                              const Source& source, llvm::Value* first,
                              llvm::Value* count, llvm::Value* scratch,
                              llvm::Value* point) const;
    /// Of points `first` + `point` …, of which there are `left`, the
    /// components from `component` on.
    struct Square {
        llvm::Value *first, *point, *left, *component;
        int components;
    };
    void load_square(Lanes& lanes, ir::ValueId id, const Source& source,
                     const Square& at, llvm::Value* out) const;
    void load_points(Lanes& lanes, ir::ValueId id, const Source& source,
                     llvm::Value* first, llvm::Value* count,
                     llvm::Value* scratch, llvm::Value* components) const;
    llvm::Value* load_runs(Lanes& lanes, ir::ValueId id, const Source& source,
                           llvm::Value* first, llvm::Value* count,
                           llvm::Value* scratch) const;
    void load_words(Lanes& lanes, ir::ValueId id, const Source& source,
                    llvm::Value* first, llvm::Value* count,
                    llvm::Value* scratch) const;
    void each_point(Lanes& lanes, const Source& source, llvm::Value* first,
                    llvm::Value* count,
                    const std::function<void(llvm::Value* point,
                                             llvm::Value* base)>& body) const;
    void fill_points(Entry& entry, llvm::Value* count,
                     llvm::Value* scratch) const;
    void compute_all(Evaluator& values, ir::ValueId id,
                     const Evaluator::VectorPlaces& place) const;
    /// An array whose next points are prefetched; its components are `step`
    /// bytes apart.
    struct Fetched {
        Source source;
        std::int64_t components;
        llvm::Value* step;
    };
    std::vector<Fetched> fetched(Lanes& lanes, llvm::Value* call) const;
    void prefetch(Lanes& lanes, const std::vector<Fetched>& arrays,
                  llvm::Value* first, llvm::Value* point) const;

    ModuleWriter& writer_;
    const Operands& operands_;
    llvm::Value* width_;
};

/// Reads values on {} from call->constants, rounded to `graph.real` (but for
/// those that meet integers), once at a function's entry where the component
/// is fixed.
class Constants {
public:
    Constants(ModuleWriter& writer, Lanes& lanes, llvm::Value* call);
    /// Returns an empty leaf where the value is no constant.
    Leaf leaf(ir::ValueId id);
    llvm::Value* read(ir::ValueId id, Component component);

    /// Returns lanes of a vector's components from `first` on, 0 beyond the
    /// last.
    llvm::Value* read_run(ir::ValueId id, llvm::Value* first) const;

private:
    /// Reads elements of a table in place.
    llvm::Value* element(ir::ValueId id,
                         llvm::ArrayRef<llvm::Value*> subscripts) const;
    /// Returns the dtype in which prepare left a value.
    DType dtype_of(ir::ValueId id) const;
    /// Returns where component `index`, or each lane's, lies.
    llvm::Value* address(llvm::IRBuilder<>& b, ir::ValueId id,
                         llvm::Value* index) const;

    ModuleWriter& writer_;
    Lanes& lanes_;
    llvm::Value* call_;
    llvm::Value* base_;
    std::map<std::pair<ir::ValueId, std::int64_t>, llvm::Value*> read_;
};

} // namespace tilefold::llvm_backend
