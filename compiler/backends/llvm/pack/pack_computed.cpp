// compiler/backends/llvm/pack/pack_computed.cpp - values of a run of points
// that are computed from what is packed: lanes over points, or over the
// components of vectors that lie point by point.

#include "compiler/backends/llvm/pack/pack.h"

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Packed values of a run, lanes over its points; what is packed already is
/// a leaf, and so are the constants.
class RunLeaves : public Leaves {
public:
    RunLeaves(const Pack& pack, Lanes& lanes, Value* scratch,
              const std::vector<ValueId>& ready, Leaves& constants)
        : pack_(pack), lanes_(lanes), scratch_(scratch), ready_(ready),
          constants_(constants) {}

    /// Lanes are points from `point` on.
    void begin(Value* point) { point_ = point; }
    Value* point() const { return point_; }

    bool has(ValueId id) const override {
        return constants_.has(id) ||
               std::find(ready_.begin(), ready_.end(), id) != ready_.end();
    }

    Value* read(ValueId id, Component component, int row, int column) override {
        return constants_.has(id)
                   ? constants_.read(id, component, row, column)
                   : pack_.read_points(lanes_, scratch_, id, component, point_);
    }

private:
    const Pack& pack_;
    Lanes& lanes_;
    Value* scratch_;
    Value* point_ = nullptr;
    const std::vector<ValueId>& ready_;
    Leaves& constants_;
};

/// Lanes over components instead: of one point, and of constants.
class ComponentLeaves : public Leaves {
public:
    ComponentLeaves(const Pack& pack, Lanes& lanes, Value* scratch,
                    Value* point, ConstantLeaves& constants,
                    const ModuleWriter& writer)
        : pack_(pack), lanes_(lanes), scratch_(scratch), point_(point),
          constants_(constants), writer_(writer) {}

    void ready(ValueId id) { ready_.insert(id); }
    bool has(ValueId id) const override {
        return constants_.has(id) || ready_.count(id) > 0;
    }

    Value* read(ValueId id, Component component, int row, int column) override {
        if (!constants_.has(id))
            return lanes_.load(
                writer_.packed_dtype(id),
                pack_.address(lanes_, scratch_, id, component, point_));
        return writer_.graph[id].type.rank == 0
                   ? constants_.read(id, {}, row, column)
                   : constants_.read_run(id, component.runtime);
    }

private:
    const Pack& pack_;
    Lanes& lanes_;
    Value* scratch_;
    Value* point_;
    ConstantLeaves& constants_;
    const ModuleWriter& writer_;
    std::set<ValueId> ready_;
};

} // namespace

/// Lanes of one component of points from `point` on, in any order.
Value* Pack::read_points(const Lanes& lanes, Value* scratch, ValueId id,
                         Component component, Value* point) const {
    auto& b = lanes.b;
    const DType dtype = writer_.packed_dtype(id);
    const Operand& place = operands_.of.at(id);
    Value* first = address(lanes, scratch, id, component, point);
    if (place.order != Order::Points || lanes.width() == 1)
        return lanes.load(dtype, first);
    Value* offsets = b.CreateMul(lanes.count_from(lanes.constant(0)),
                                 lanes.splat(run_of(lanes, place)));
    return b.CreateMaskedGather(lanes.type(dtype),
                                b.CreatePtrAdd(first, offsets),
                                llvm::Align(size_of(dtype)));
}

/// Computes the vectors that lie point by point.
void Pack::fill_points(Lanes& lanes, const FunctionTable& functions,
                       Value* count, Value* scratch, Value* width,
                       ConstantLeaves& constants) const {
    std::vector<ValueId> vectors;
    for (ValueId id : operands_.values.computed)
        if (operands_.of.at(id).order == Order::Points)
            vectors.push_back(id);
    if (vectors.empty())
        return;
    lanes.loop(lanes.constant(0), count, lanes.constant(1), [&](Value* point) {
        ComponentLeaves leaves(*this, lanes, scratch, point, constants,
                               writer_);
        for (ValueId id : operands_.values.leaves)
            leaves.ready(id);
        Evaluator values(writer_.graph, lanes, functions, writer_.plan.unroll,
                         width, leaves);
        for (ValueId id : vectors) {
            const std::int64_t components = writer_.graph[id].type.rows;
            lanes.loop(lanes.constant(0), lanes.constant(components),
                       lanes.constant(lanes.width()), [&](Value* k) {
                           const Component run{0, k};
                           values.forget();
                           lanes.store(values.value(id, run),
                                       address(lanes, scratch, id, run, point));
                       });
            leaves.ready(id);
        }
    });
}

/// The arrays of vectors that are short, or of numbers.
std::vector<Pack::Fetched> Pack::fetched(Lanes& lanes, Value* call) const {
    auto& b = lanes.b;
    std::vector<Fetched> arrays;
    for (ValueId id : operands_.values.leaves) {
        const ir::Node& node = writer_.graph[id];
        if (node.op != ir::Op::Argument || node.type.rows == dynamic ||
            components_of(node.type) > writer_.plan.unroll)
            continue;
        const Source source = source_of(lanes, id, call);
        const std::int64_t components = components_of(node.type);
        const DType stored =
            writer_.graph.arguments[std::size_t(node.first)].dtype;
        const auto size = std::int64_t(size_of(stored));
        Value* is_usual = b.CreateICmpEQ(source.step, lanes.constant(size));
        arrays.push_back({source, components,
                          b.CreateSelect(is_usual, lanes.constant(line_bytes),
                                         source.step)});
    }
    return arrays;
}

/// Asks for the points of the next run of `capacity` that lie where `points`
/// of a vector from `point` on do in this one, while these are computed: memory
/// and ports are busy at once. Arrays of the usual order have as many lines of
/// cache there as components, all others one for each of them, or more.
void Pack::prefetch(Lanes& lanes, const std::vector<Fetched>& arrays,
                    Value* first, Value* point) const {
    auto& b = lanes.b;
    Value* next = b.CreateAdd(b.CreateAdd(first, point),
                              lanes.constant(operands_.capacity));
    for (const Fetched& array : arrays) {
        Value* place = b.CreatePtrAdd(array.source.base,
                                      b.CreateMul(next, array.source.stride));
        for (std::int64_t k = 0; k < array.components; ++k)
            lanes.prefetch(b.CreatePtrAdd(
                place, b.CreateMul(array.step, lanes.constant(k))));
    }
}

void Pack::fill(Lanes& lanes, const FunctionTable& functions, Value* call,
                Value* first, Value* count, Value* scratch, Value* width,
                ConstantLeaves& constants) const {
    for (ValueId id : operands_.values.leaves)
        load_leaf(lanes, id, call, first, count, scratch, width);
    if (operands_.values.computed.empty())
        return;
    fill_points(lanes, functions, count, scratch, width, constants);
    std::vector<ValueId> ready = operands_.values.leaves, left;
    for (ValueId id : operands_.values.computed)
        (operands_.of.at(id).order == Order::Points ? ready : left)
            .push_back(id);
    RunLeaves leaves(*this, lanes, scratch, ready, constants);
    Evaluator values(writer_.graph, lanes, functions, writer_.plan.unroll,
                     width, leaves);
    const auto store = [&](ValueId id, Component component) {
        lanes.store(values.value(id, component),
                    address(lanes, scratch, id, component, leaves.point()));
    };
    const auto begin = [&](Value* point) { leaves.begin(point); };
    const auto are_scalars = std::ranges::all_of(
        left, [&](ValueId id) { return writer_.graph[id].type.rank == 0; });
    Value* end = padded(lanes, count);
    if (are_scalars &&
        values.scalars_in_groups(left, end, begin,
                                 [&](ValueId id) { store(id, {}); }))
        return;
    const std::vector<Fetched> arrays = fetched(lanes, call);
    lanes.loop(lanes.constant(0), end, lanes.constant(lanes.width()),
               [&](Value* point) {
                   prefetch(lanes, arrays, first, point);
                   leaves.begin(point);
                   values.forget();
                   for (ValueId id : left) {
                       const Type& type = writer_.graph[id].type;
                       values.hoist_scalars(id, 1, 1);
                       values.each_component(
                           type.rows == dynamic ? dynamic : components_of(type),
                           [&](Component k) { store(id, k); });
                   }
               });
}

} // namespace tilefold::llvm_backend
