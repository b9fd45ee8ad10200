// compiler/backends/llvm/pack_computed.cpp - values of a run of points that are
// computed from what is packed: lanes over points, or over the components of
// vectors that lie point by point.

#include "compiler/backends/llvm/pack.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Packed values of a run, lanes over its points; what is packed already is
/// a leaf, and so are the constants.
class RunLeaves : public Leaves {
public:
    RunLeaves(const Pack& pack, Lanes& lanes, Value* scratch, Value* point,
              const std::vector<ValueId>& ready, Leaves& constants,
              const ModuleWriter& writer)
        : pack_(pack), lanes_(lanes), scratch_(scratch), point_(point),
          ready_(ready), constants_(constants), writer_(writer) {}

    bool has(ValueId id) const override {
        return constants_.has(id) ||
               std::find(ready_.begin(), ready_.end(), id) != ready_.end();
    }

    Value* read(ValueId id, Component component, int row, int column) override {
        if (constants_.has(id))
            return constants_.read(id, component, row, column);
        // The cells of the tile are the run's vectors, one after the other.
        Value* first = lanes_.b.CreateAdd(
            point_,
            lanes_.constant(std::int64_t(row + column) * lanes_.width()));
        return pack_.read_points(lanes_, scratch_, id, component, first);
    }

private:
    const Pack& pack_;
    Lanes& lanes_;
    Value* scratch_;
    Value* point_;
    const std::vector<ValueId>& ready_;
    Leaves& constants_;
    const ModuleWriter& writer_;
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
    const Place& place = places_.at(id);
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
    for (ValueId id : values_.computed)
        if (places_.at(id).order == Order::Points)
            vectors.push_back(id);
    if (vectors.empty())
        return;
    lanes.loop(lanes.constant(0), count, lanes.constant(1), [&](Value* point) {
        ComponentLeaves leaves(*this, lanes, scratch, point, constants,
                               writer_);
        for (ValueId id : values_.leaves)
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

/// Of the loop that computes values of points. Chains of a hundred operations,
/// each of which waits for the one before, take a processor longer than it
/// looks ahead: side by side, four take little more time than one (measured:
/// 30 functions of 4 to 13 vectors, 2.8 µs one by one).
int Pack::vectors_at_a_time(const Lanes& lanes) const {
    constexpr int together = 4, long_chain = 96;
    int slots = 0;
    for (const ir::Node& node : writer_.graph.nodes)
        if (node.type.axes == axis_ && node.type.rank == 0 &&
            ir::has_row(node.op))
            slots += ir::row_of(node.op).cost;
    const auto is_scalar = [&](ValueId id) {
        return writer_.graph[id].type.rank == 0;
    };
    const bool fits = capacity_ % (std::int64_t(together) * lanes.width()) == 0;
    return slots >= long_chain && fits &&
                   std::ranges::all_of(values_.computed, is_scalar)
               ? together
               : 1;
}

/// A scalar of several vectors of points.
void Pack::store_together(Evaluator& values, ValueId id, int vectors,
                          Value* point, Value* scratch) const {
    Lanes& lanes = values.lanes();
    const bool on_rows = axis_ == Axes::I;
    values.interleave(id, on_rows ? vectors : 1, on_rows ? 1 : vectors);
    for (int v = 0; v < vectors; ++v) {
        Value* first = lanes.b.CreateAdd(
            point, lanes.constant(std::int64_t(v) * lanes.width()));
        lanes.store(values.value(id, {}, on_rows ? v : 0, on_rows ? 0 : v),
                    address(lanes, scratch, id, {}, first));
    }
}

void Pack::fill(Lanes& lanes, const FunctionTable& functions, Value* call,
                Value* first, Value* count, Value* scratch, Value* width,
                ConstantLeaves& constants) const {
    for (ValueId id : values_.leaves)
        load_leaf(lanes, id, call, first, count, scratch, width);
    if (values_.computed.empty())
        return;
    fill_points(lanes, functions, count, scratch, width, constants);
    const int vectors = vectors_at_a_time(lanes);
    lanes.loop(
        lanes.constant(0), count,
        lanes.constant(std::int64_t(vectors) * lanes.width()),
        [&](Value* point) {
            std::vector<ValueId> ready = values_.leaves;
            const auto is_done = [&](ValueId id) {
                return places_.at(id).order == Order::Points;
            };
            std::ranges::copy_if(values_.computed, std::back_inserter(ready),
                                 is_done);
            RunLeaves leaves(*this, lanes, scratch, point, ready, constants,
                             writer_);
            Evaluator values(writer_.graph, lanes, functions,
                             writer_.plan.unroll, width, leaves);
            for (ValueId id : values_.computed) {
                if (is_done(id))
                    continue;
                if (vectors > 1) {
                    store_together(values, id, vectors, point, scratch);
                    continue;
                }
                const Type& type = writer_.graph[id].type;
                const std::int64_t components =
                    type.rows == dynamic ? dynamic : components_of(type);
                values.hoist_scalars(id, 1, 1);
                values.each_component(components, [&](Component component) {
                    lanes.store(values.value(id, component),
                                address(lanes, scratch, id, component, point));
                });
            }
        });
}

} // namespace tilefold::llvm_backend
