// compiler/backends/llvm/pack/pack_computed.cpp - values of a run of points
// that are computed from what is packed: lanes over points, or over the
// components of vectors that lie point by point.

#include "compiler/backends/llvm/pack/entry.h"

#include <algorithm>

namespace tilefold::llvm_backend {

namespace {

/// Rows of a matrix that meet a component of a vector at a time: each is a sum
/// of its own, and a sum takes four cycles for a term.
constexpr int product_rows = 8;

} // namespace

using ir::ValueId;
using llvm::Value;

/// Returns lanes of one component of points from `point` on, in any order.
Value* Pack::read_points(const Lanes& lanes, Value* scratch, ValueId id,
                         Component component, Value* point) const {
    auto& b = lanes.b;
    const DType dtype = writer_.packed_dtype(id);
    const Operand& place = operands_.of.at(id);
    Value* first = address(lanes, scratch, id, component, point);
    if (place.order != OperandOrder::Points || lanes.width() == 1)
        return lanes.load(dtype, first);
    Value* offsets = b.CreateMul(lanes.count_from(lanes.constant(0)),
                                 lanes.splat(run_of(lanes, place)));
    return b.CreateMaskedGather(lanes.type(dtype),
                                b.CreatePtrAdd(first, offsets),
                                llvm::Align(size_of(dtype)));
}

/// Computes the vectors that lie point by point.
void Pack::fill_points(Entry& entry, Value* count, Value* scratch) const {
    Lanes& lanes = entry.lanes;
    std::vector<ValueId> vectors;
    for (ValueId id : operands_.values.computed)
        if (operands_.of.at(id).order == OperandOrder::Points)
            vectors.push_back(id);
    if (vectors.empty())
        return;
    lanes.loop(lanes.constant(0), count, lanes.constant(1), [&](Value* point) {
        std::vector<ValueId> ready = operands_.values.leaves;
        Evaluator values = entry.evaluator([&](ValueId id) -> Leaf {
            Leaf constant = entry.constants->leaf(id);
            if (constant && writer_.graph[id].type.rank == 0)
                return constant;
            if (constant)
                return {[&, id](Component run, int, int) {
                    return entry.constants->read_run(id, run.runtime);
                }};
            if (!std::ranges::count(ready, id))
                return {};
            return {[&, id](Component run, int, int) {
                return lanes.load(writer_.packed_dtype(id),
                                  address(lanes, scratch, id, run, point));
            }};
        });
        for (ValueId id : vectors) {
            const std::int64_t components = writer_.graph[id].type.rows;
            entry.each_vector(lanes.constant(components), [&](Value* k) {
                const Component run{0, k};
                values.forget();
                lanes.store(values.value(id, run),
                            address(lanes, scratch, id, run, point));
            });
            ready.push_back(id);
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

/// Computes all components of a value for a vector of points.
void Pack::compute_all(Evaluator& values, ValueId id,
                       const Evaluator::VectorPlaces& place) const {
    if (writer_.kernel.contractions.layers.count(id) > 0)
        return values.keep_vector(id, 1, 1, product_rows, place);
    const Type& type = writer_.graph[id].type;
    values.hoist_scalars(id, 1, 1);
    values.each_component(
        type.rows == dynamic ? dynamic : components_of(type), [&](Component k) {
            values.lanes().store(values.value(id, k), place(k, 0, 0));
        });
}

void Pack::fill(Entry& entry, Value* first, Value* count,
                Value* scratch) const {
    Lanes& lanes = entry.lanes;
    for (ValueId id : operands_.values.leaves)
        load_leaf(lanes, id, entry.call, first, count, scratch, entry.width);
    if (operands_.values.computed.empty())
        return;
    fill_points(entry, count, scratch);
    std::vector<ValueId> ready = operands_.values.leaves, left;
    for (ValueId id : operands_.values.computed)
        (operands_.of.at(id).order == OperandOrder::Points ? ready : left)
            .push_back(id);
    Value* from = nullptr; // lanes are points from here on
    Evaluator values = entry.evaluator(
        [&](ValueId id) -> Leaf {
            if (Leaf constant = entry.constants->leaf(id); constant)
                return constant;
            if (!std::ranges::count(ready, id))
                return {};
            return {[&, id](Component at, int, int) {
                return read_points(lanes, scratch, id, at, from);
            }};
        },
        &operands_.chains);
    const auto place_of = [&](ValueId id) {
        return [&, id](Component component, int, int) {
            return address(lanes, scratch, id, component, from);
        };
    };
    const auto begin = [&](Value* point) {
        from = point;
        entry.held = lanes.b.CreateSub(count, point);
    };
    Value* end = padded(lanes, count);
    if (!operands_.scalars.empty()) {
        values.scalars_in_strips(
            left, operands_.scalars, end, begin, [&](ValueId id) {
                lanes.store(values.value(id), place_of(id)({}, 0, 0));
            });
        entry.held = nullptr;
        return;
    }
    const std::vector<Fetched> arrays = fetched(lanes, entry.call);
    lanes.loop(lanes.constant(0), end, lanes.constant(lanes.width()),
               [&](Value* point) {
                   prefetch(lanes, arrays, first, point);
                   begin(point);
                   values.forget();
                   for (ValueId id : left) {
                       compute_all(values, id, place_of(id));
                       ready.push_back(id);
                   }
               });
    entry.held = nullptr;
}

} // namespace tilefold::llvm_backend
