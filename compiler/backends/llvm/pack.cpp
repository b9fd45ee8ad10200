// compiler/backends/llvm/pack.cpp - packing the values of a run of points.

#include "compiler/backends/llvm/pack.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
using ir::ValueId;
using llvm::Value;

namespace {

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/// Packed values of a run, lanes over its points; what is packed already is
/// a leaf, and so are the constants.
class RunLeaves : public Leaves {
public:
    RunLeaves(const Pack& pack, Lanes& lanes, Value* scratch, Value* point,
              const std::vector<ValueId>& ready, Leaves& constants,
              const ir::Graph& graph)
        : pack_(pack), lanes_(lanes), scratch_(scratch), point_(point),
          ready_(ready), constants_(constants), graph_(graph) {}

    bool has(ValueId id) const override {
        return constants_.has(id) ||
               std::find(ready_.begin(), ready_.end(), id) != ready_.end();
    }

    Value* read(ValueId id, Component component, int row, int column) override {
        if (constants_.has(id))
            return constants_.read(id, component, row, column);
        return lanes_.load(
            graph_[id].type.dtype,
            pack_.address(lanes_, scratch_, id, component, point_));
    }

private:
    const Pack& pack_;
    Lanes& lanes_;
    Value* scratch_;
    Value* point_;
    const std::vector<ValueId>& ready_;
    Leaves& constants_;
    const ir::Graph& graph_;
};

} // namespace

Pack::Pack(ModuleWriter& writer, const Packed& values, Axes axis,
           std::int64_t capacity, std::int64_t offset)
    : writer_(writer), values_(values), axis_(axis),
      capacity_(aligned(capacity)), end_(offset) {
    const auto is_dynamic = [&](ValueId id) {
        return writer.graph[id].type.rows == dynamic;
    };
    for (const auto* list : {&values_.leaves, &values_.computed})
        for (ValueId id : *list)
            if (!is_dynamic(id))
                place(id);
    for (const auto* list : {&values_.leaves, &values_.computed})
        for (ValueId id : *list)
            if (is_dynamic(id))
                place(id);
}

/// Values of dynamic width come last; there is at most one.
void Pack::place(ValueId id) {
    const Type& type = writer_.graph[id].type;
    const auto size = std::int64_t(size_of(type.dtype)) * capacity_;
    places_[id] = end_;
    if (type.rows == dynamic)
        end_per_width_ += size;
    else
        end_ += aligned(size * components_of(type));
}

Value* Pack::address(const Lanes& lanes, Value* scratch, ValueId id,
                     Component component, Value* point) const {
    const auto size = std::int64_t(size_of(writer_.graph[id].type.dtype));
    Value* row = lanes.byte_offset(
        scratch, places_.at(id) + component.fixed * capacity_ * size);
    if (component.runtime)
        row = lanes.at(row, component.runtime, 0, capacity_ * size);
    return lanes.at(row, point, 0, size);
}

void Pack::load_leaf(Lanes& lanes, ValueId id, Value* call, Value* first,
                     Value* count, Value* scratch, Value* width) const {
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    Value* list =
        writer_.field(b, call,
                      axis_ == Axes::I ? offsetof(tilefold_call, row_index)
                                       : offsetof(tilefold_call, column_index),
                      true);
    Value* zero = lanes.constant(0);
    if (node.op == Op::Index) {
        b.CreateCall(
            writer_.count_points(),
            {list, first, count, address(lanes, scratch, id, {}, zero)});
        return;
    }
    const auto operand = [&](OperandField field) {
        return writer_.operand_field(b, call, node.first, field);
    };
    const DType stored = writer_.graph.arguments[std::size_t(node.first)].dtype;
    llvm::Function* load = writer_.strided_load(stored, node.type.dtype);
    Value* base = operand(OperandField::Base);
    Value* stride = operand(OperandField::Stride);
    Value* step = operand(OperandField::Component);
    Value* components = node.type.rows == dynamic && node.type.rank == 1
                            ? width
                            : lanes.constant(components_of(node.type));
    // Lanes of a whole tile read beyond the last point: zeros.
    Value* padded = b.CreateAnd(b.CreateAdd(count, lanes.constant(63)),
                                lanes.constant(~std::int64_t(63)));
    lanes.loop(zero, components, lanes.constant(1), [&](Value* index) {
        b.CreateCall(load,
                     {b.CreatePtrAdd(base, b.CreateMul(index, step)), stride,
                      list, first, count,
                      address(lanes, scratch, id, {0, index}, zero), padded});
    });
}

void Pack::fill(Lanes& lanes, const FunctionTable& functions, Value* call,
                Value* first, Value* count, Value* scratch, Value* width,
                Leaves& constants) const {
    for (ValueId id : values_.leaves)
        load_leaf(lanes, id, call, first, count, scratch, width);
    if (values_.computed.empty())
        return;
    lanes.loop(
        lanes.constant(0), count, lanes.constant(lanes.width()),
        [&](Value* point) {
            std::vector<ValueId> ready = values_.leaves;
            RunLeaves leaves(*this, lanes, scratch, point, ready, constants,
                             writer_.graph);
            Evaluator values(writer_.graph, lanes, functions,
                             writer_.plan.unroll, width, leaves);
            for (ValueId id : values_.computed) {
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

ConstantLeaves::ConstantLeaves(ModuleWriter& writer, Lanes& lanes, Value* call)
    : writer_(writer), lanes_(lanes),
      base_(writer.sites.constants_size
                ? writer.field(lanes.b, call,
                               offsetof(tilefold_call, constants), true)
                : nullptr) {}

bool ConstantLeaves::has(ValueId id) const {
    return writer_.sites.constants.count(id) != 0;
}

/// Elements of the table at `place`, as they stand or as F64.
Value* ConstantLeaves::gather(DType dtype, std::int64_t place,
                              Value* index) const {
    auto& b = lanes_.b;
    const DType stored = dtype == DType::I64 ? DType::I64 : DType::F64;
    Value* places = b.CreateGEP(lanes_.element(stored),
                                lanes_.byte_offset(base_, place * 8), index);
    return b.CreateMaskedGather(lanes_.type(stored), places, llvm::Align(8));
}

Value* ConstantLeaves::read(ValueId id, Component component, int, int) {
    const Node& node = writer_.graph[id];
    const std::int64_t place = writer_.sites.constants.at(id);
    const auto load = [&](llvm::IRBuilder<>& b, Value* index) {
        Lanes at_place = writer_.lanes(b, lanes_.width());
        Value* address = at_place.at(base_, index, place, 8);
        if (node.type.dtype == DType::I64)
            return at_place.splat(b.CreateLoad(b.getInt64Ty(), address));
        Value* number = b.CreateLoad(b.getDoubleTy(), address);
        const DType dtype =
            node.type.dtype == DType::F64 && !writer_.sites.exact.count(id)
                ? writer_.graph.real
                : node.type.dtype;
        Lanes scalar = writer_.lanes(b, 1);
        return at_place.splat(scalar.as(dtype, number));
    };
    if (component.runtime && component.runtime->getType()->isVectorTy())
        return gather(node.type.dtype, place, component.runtime);
    if (component.runtime)
        return load(lanes_.b,
                    lanes_.b.CreateAdd(component.runtime,
                                       lanes_.constant(component.fixed)));
    auto& known = read_[{id, component.fixed}];
    if (!known) {
        llvm::BasicBlock& entry =
            lanes_.b.GetInsertBlock()->getParent()->getEntryBlock();
        llvm::IRBuilder<> b(&entry);
        if (llvm::Instruction* end = entry.getTerminator())
            b.SetInsertPoint(end);
        known = load(b, b.getInt64(std::uint64_t(component.fixed)));
    }
    return known;
}

} // namespace tilefold::llvm_backend
