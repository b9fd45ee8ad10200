// compiler/backends/llvm/nest/nest.cpp - what the entries share, and prepare.

#include "compiler/backends/llvm/nest/nest.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
using ir::ValueId;
using llvm::Value;

namespace {

Value* read_literal(Entry& entry, const Node& node) {
    auto& b = entry.b;
    Value* literals = entry.writer.field(
        b, entry.call, offsetof(tilefold_kernel_call, literals), true);
    Value* number = b.CreateLoad(
        b.getDoubleTy(), entry.lanes.byte_offset(literals, node.first * 8));
    if (node.type.dtype != DType::I64)
        return number;
    Value* whole = entry.lanes.as(DType::I64, number);
    return node.second < 0 ? b.CreateNeg(whole) : whole;
}

Value* read_argument(Entry& entry, const Node& node, Component component) {
    auto& b = entry.b;
    const auto field = [&](OperandField which) {
        return entry.writer.operand_field(b, entry.call, node.first, which);
    };
    Value* index = entry.lanes.constant(component.fixed);
    if (component.runtime)
        index = b.CreateAdd(index, component.runtime);
    Value* place = field(OperandField::Base);
    if (node.type.rank == 2) {
        Value* columns = entry.lanes.constant(node.type.columns);
        Value* row = b.CreateSDiv(index, columns);
        Value* column = b.CreateSRem(index, columns);
        place = b.CreatePtrAdd(
            place, b.CreateMul(column, field(OperandField::Column)));
        index = row;
    }
    place = b.CreatePtrAdd(place,
                           b.CreateMul(index, field(OperandField::Component)));
    const DType stored =
        entry.writer.graph.arguments[std::size_t(node.first)].dtype;
    const DType dtype = node.type.dtype;
    Value* read = load_elements(entry.lanes, stored, dtype, place);
    return dtype == DType::Bool ? b.CreateICmpNE(read, b.getInt8(0)) : read;
}

/// Reads parameters and literals as prepare does: from the caller's memory.
Leaf parameter(Entry& entry, ValueId id) {
    const Node& node = entry.writer.graph[id];
    if (node.op == Op::Literal)
        return {[&](Component, int, int) { return read_literal(entry, node); }};
    if (node.op == Op::Argument)
        return {[&](Component at, int, int) {
            return read_argument(entry, node, at);
        }};
    return {};
}

/// Prepare computes so many components between two questions whether to go on:
/// a fraction of a millisecond.
constexpr int components_between_polls = 1 << 16;

/// Returns from prepare where the caller wants no more of it.
void leave_if_stopped(Entry& entry) {
    auto& b = entry.b;
    const auto field = [&](std::size_t offset) {
        return entry.writer.field(b, entry.call, offset, true);
    };
    const auto block = [&](const char* name) {
        return llvm::BasicBlock::Create(b.getContext(), name, entry.function);
    };
    auto *ask = block("ask"), *leave = block("leave"), *go_on = block("go_on");
    Value* goes_on = field(offsetof(tilefold_kernel_call, goes_on));
    b.CreateCondBr(b.CreateIsNull(goes_on), go_on, ask);
    b.SetInsertPoint(ask);
    auto* type = llvm::FunctionType::get(b.getInt64Ty(), {b.getPtrTy()}, false);
    Value* answer = b.CreateCall(
        type, goes_on, {field(offsetof(tilefold_kernel_call, watcher))});
    b.CreateCondBr(b.CreateIsNull(answer), leave, go_on);
    b.SetInsertPoint(leave);
    b.CreateRetVoid();
    b.SetInsertPoint(go_on);
}

/// Calls `body` for each of `components`. Of very many, it asks between them
/// whether to go on.
void each_prepared(Entry& entry, Evaluator& values, std::int64_t components,
                   const std::function<void(Component)>& body) {
    if (components <= components_between_polls)
        return values.each_component(components, body);
    values.each_block(
        components, components_between_polls, [&](Component at, int count) {
            leave_if_stopped(entry);
            values.each_component(count, [&](Component k) {
                Value* place = k.runtime
                                   ? entry.b.CreateAdd(at.runtime, k.runtime)
                                   : at.runtime;
                body({k.fixed, place});
            });
        });
}

} // namespace

void write_prepare(ModuleWriter& writer) {
    Entry entry(writer, "prepare", "p", 1);
    Evaluator values =
        entry.evaluator([&](ValueId id) { return parameter(entry, id); },
                        &writer.kernel.constant_chains);
    Value* constants = writer.field(
        entry.b, entry.call, offsetof(tilefold_kernel_call, constants), true);
    for (const auto& [id, place] : writer.kernel.placement.constants) {
        values.hoist_scalars(id, 1, 1);
        const DType dtype =
            constant_dtype(writer.graph, writer.kernel.placement, id);
        Value* first = entry.lanes.byte_offset(constants, place * 8);
        const auto store = [&](Component component) {
            Value* address = entry.lanes.at(first, values.index_of(component),
                                            0, std::int64_t(size_of(dtype)));
            entry.b.CreateStore(
                entry.lanes.as(dtype, values.value(id, component)), address);
        };
        each_prepared(entry, values, components_of(writer.graph[id].type),
                      store);
    }
    entry.finish();
}

ResultBuffer::ResultBuffer(ModuleWriter& writer, std::int64_t capacity,
                           std::int64_t offset)
    : writer_(writer), capacity_(capacity), offset_(offset) {}

std::int64_t ResultBuffer::components() const {
    const Type& type = writer_.graph[writer_.graph.result].type;
    return type.rows == dynamic ? dynamic : components_of(type);
}

Value* ResultBuffer::address(Entry& entry, Value* scratch, Component component,
                             Value* point) const {
    const DType dtype = writer_.graph[writer_.graph.result].type.dtype;
    Value* row = entry.lanes.byte_offset(scratch, offset_ + component.fixed *
                                                                capacity_ * 8);
    if (component.runtime)
        row = entry.lanes.at(row, component.runtime, 0, capacity_ * 8);
    return entry.lanes.at(row, point, 0, std::int64_t(size_of(dtype)));
}

void ResultBuffer::evaluate(Entry& entry, Evaluator& values, Value* scratch,
                            Value* point) const {
    const ValueId result = writer_.graph.result;
    if (!values.unrolled(components()))
        values.hoist_scalars(result, 1, 1);
    values.each_component(components(), [&](Component component) {
        Value* value = values.value(result, component);
        entry.lanes.store(
            entry.lanes.as(writer_.graph[result].type.dtype, value),
            address(entry, scratch, component, point));
    });
}

void ResultBuffer::store(Entry& entry, Value* scratch, Value* count, Value* out,
                         Value* stride) const {
    auto& b = entry.b;
    const DType dtype = writer_.graph[writer_.graph.result].type.dtype;
    Value* step = writer_.field(
        b, entry.call, offsetof(tilefold_kernel_call, out_component), false);
    Value* accumulate = writer_.field(
        b, entry.call, offsetof(tilefold_kernel_call, accumulate), false);
    Value* zero = entry.lanes.constant(0);
    Value* total = components() == dynamic ? entry.width
                                           : entry.lanes.constant(components());
    llvm::Function* write = writer_.strided_store(dtype);
    entry.lanes.loop(zero, total, entry.lanes.constant(1), [&](Value* k) {
        b.CreateCall(write, {address(entry, scratch, {0, k}, zero), count,
                             b.CreatePtrAdd(out, b.CreateMul(k, step)), stride,
                             accumulate});
    });
}

} // namespace tilefold::llvm_backend
