// compiler/backends/llvm/pack/pack.h - the values of a run of points along one
// axis, laid out in scratch memory:
//   component by component, each a row of `capacity` elements, so that lanes
//     are contiguous; or, of vectors longer than the plan unrolls,
//   tile by tile, and in it component by component: a loop over components
//     reads one run of memory, where rows of all points would be a page apart;
//   point by point: the same for what is broadcast, one point in all lanes.
// A component of a vector packed as words is a word, or what follows them.
#pragma once

#include "compiler/backends/llvm/evaluate/evaluate.h"
#include "compiler/backends/llvm/module/module.h"

#include <map>

namespace tilefold::llvm_backend {

/// Of a cache.
inline constexpr std::int64_t line_bytes = 64;

/// How the long vectors of a part lie.
enum class Order : std::uint8_t { Components, Tiles, Points };

class ConstantLeaves;

/// The part of scratch that holds one axis' values.
class Pack {
public:
    /// `offset`: where the part begins in scratch, a multiple of 64. `tile`:
    /// its points, where the order is Tiles; `width`: call->width, where values
    /// of that width are packed.
    Pack(ModuleWriter& writer, const Packed& values, Axes axis,
         std::int64_t capacity, std::int64_t offset,
         Order order = Order::Components, std::int64_t tile = 1,
         llvm::Value* width = nullptr);

    bool has(ir::ValueId id) const { return places_.count(id) != 0; }
    std::int64_t end() const { return end_; } ///< offset after the part …
    /// … plus this times call->width
    std::int64_t end_per_width() const { return end_per_width_; }
    std::int64_t capacity() const { return capacity_; }
    /// Bytes from tile to tile, or point to point, of a value that lies so.
    std::int64_t run(ir::ValueId id) const { return places_.at(id).run; }
    /// Whether no vector lies in runs of its own.
    bool is_by_components() const;

    /// Reads points [first, first + count) of the arguments and computes what
    /// is made of them. Lanes beyond the last point, up to a tile and a vector,
    /// are zero, or computed from zeros: nothing depends on what the memory
    /// held before.
    void fill(Lanes& lanes, const FunctionTable& functions, llvm::Value* call,
              llvm::Value* first, llvm::Value* count, llvm::Value* scratch,
              llvm::Value* width, ConstantLeaves& constants) const;

    /// Address of component `component` of point `point` (an index in the
    /// run).
    llvm::Value* address(const Lanes& lanes, llvm::Value* scratch,
                         ir::ValueId id, Component component,
                         llvm::Value* point) const;
    /// Lanes of that component: of points from `point` on.
    llvm::Value* read_points(const Lanes& lanes, llvm::Value* scratch,
                             ir::ValueId id, Component component,
                             llvm::Value* point) const;

private:
    /// Where a value's points and components lie; strides in bytes.
    struct Place {
        Order order = Order::Components;
        std::int64_t offset = 0;           ///< the first one's …
        std::int64_t offset_per_width = 0; ///< … plus this times call->width
        std::int64_t component = 0;
        /// From tile to tile, or point to point; 0: as call->width says.
        std::int64_t run = 0;
    };
    llvm::Value* run_of(const Lanes& lanes, const Place& place) const;
    std::int64_t run_multiple(std::int64_t element_bytes) const;
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
    void load_points(Lanes& lanes, ir::ValueId id, const Source& source,
                     llvm::Value* first, llvm::Value* count,
                     llvm::Value* scratch, llvm::Value* components) const;
    void load_words(Lanes& lanes, ir::ValueId id, const Source& source,
                    llvm::Value* first, llvm::Value* count,
                    llvm::Value* scratch) const;
    void each_point(Lanes& lanes, const Source& source, llvm::Value* first,
                    llvm::Value* count,
                    const std::function<void(llvm::Value* point,
                                             llvm::Value* base)>& body) const;
    Order order_of(ir::ValueId id) const;
    void fill_points(Lanes& lanes, const FunctionTable& functions,
                     llvm::Value* count, llvm::Value* scratch,
                     llvm::Value* width, ConstantLeaves& constants) const;
    void place(ir::ValueId id);
    /// An array whose next points are asked for, `step` bytes a component.
    struct Fetched {
        Source source;
        std::int64_t components;
        llvm::Value* step;
    };
    std::vector<Fetched> fetched(Lanes& lanes, llvm::Value* call) const;
    void prefetch(Lanes& lanes, const std::vector<Fetched>& arrays,
                  llvm::Value* first, llvm::Value* point) const;

    ModuleWriter& writer_;
    Packed values_;
    Axes axis_;
    std::int64_t capacity_;
    Order order_;
    std::int64_t tile_;
    llvm::Value* width_;
    std::map<ir::ValueId, Place> places_;
    std::int64_t end_;
    std::int64_t end_per_width_ = 0;
};

/// Values on {}: call->constants, rounded to `graph.real` (but for those that
/// meet integers), once at a function's entry where the component is fixed.
class ConstantLeaves : public Leaves {
public:
    ConstantLeaves(ModuleWriter& writer, Lanes& lanes, llvm::Value* call);
    bool has(ir::ValueId id) const override;
    llvm::Value* read(ir::ValueId id, Component component, int row,
                      int column) override;

    /// Lanes of a vector's components from `first` on, 0 beyond the last.
    llvm::Value* read_run(ir::ValueId id, llvm::Value* first) const;

private:
    llvm::Value* gather(DType dtype, std::int64_t place,
                        llvm::Value* index) const;

    ModuleWriter& writer_;
    Lanes& lanes_;
    llvm::Value* base_;
    std::map<std::pair<ir::ValueId, std::int64_t>, llvm::Value*> read_;
};

} // namespace tilefold::llvm_backend
