// compiler/backends/llvm/monoids/monoid.cpp - what all reductions share: state
// rows, accumulators, and the choice of family.

#include "compiler/backends/llvm/monoids/monoid.h"

#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using llvm::Value;

Value* StateRows::slot_of(int field) const {
    auto& b = lanes_.b;
    Value* slot = first_slot_;
    for (int k = 0; k < field; ++k)
        slot = b.CreateAdd(slot,
                           lanes_.constant(fields_[std::size_t(k)].components));
    return slot;
}

Value* StateRows::address(int field, Component component) const {
    auto& b = lanes_.b;
    Value* slot = slot_of(field);
    slot = b.CreateAdd(slot, lanes_.constant(component.fixed));
    if (component.runtime)
        slot = b.CreateAdd(slot, component.runtime);
    Value* element = b.CreateAdd(b.CreateMul(slot, stride_), row_);
    return lanes_.at(state_, element, 0, state_bytes);
}

Value* StateRows::load(int field, Component component) const {
    if (held_)
        return held_->at({field, component.fixed});
    llvm::Type* type = lanes_.type(fields_[std::size_t(field)].dtype);
    Value* place = address(field, component);
    if (mask_)
        return lanes_.b.CreateMaskedLoad(type, place, llvm::Align(state_bytes),
                                         mask_,
                                         llvm::Constant::getNullValue(type));
    return lanes_.b.CreateAlignedLoad(type, place, llvm::Align(state_bytes));
}

void StateRows::store(int field, Component component, Value* value) const {
    if (held_) {
        held_->at({field, component.fixed}) = value;
        return;
    }
    Value* place = address(field, component);
    if (mask_)
        lanes_.b.CreateMaskedStore(value, place, llvm::Align(state_bytes),
                                   mask_);
    else
        lanes_.b.CreateAlignedStore(value, place, llvm::Align(state_bytes));
}

Value* StateRows::gather(int field, Value* components) const {
    auto& b = lanes_.b;
    const DType dtype = fields_[std::size_t(field)].dtype;
    Value* slots = b.CreateAdd(lanes_.splat(slot_of(field)), components);
    Value* elements = b.CreateAdd(b.CreateMul(slots, lanes_.splat(stride_)),
                                  lanes_.count_from(row_));
    Value* places = b.CreateGEP(lanes_.element(dtype), state_, elements);
    return b.CreateMaskedGather(lanes_.type(dtype), places,
                                llvm::Align(state_bytes));
}

Value* MonoidWriter::identity(Evaluator& values, int field, Component) const {
    const StateField& of = lowered_.fields[std::size_t(field)];
    return values.lanes().number(of.dtype, of.identity);
}

Value* MonoidWriter::read(Tile& tile, int operand, Component component, int r,
                          int j) const {
    return tile.lanes.as(graph_.real,
                         tile.values.value(body(operand), component, r, j));
}

Value* MonoidWriter::place(Tile& tile, int which, Component component, int r,
                           llvm::Type* type) {
    if (component.runtime)
        return place_in_memory(tile, which, component, r);
    auto& known = registers_[{which, component.fixed, r}];
    if (!known)
        known = tile.lanes.variable(type);
    return known;
}

Value* MonoidWriter::place_in_memory(Tile& tile, int which, Component component,
                                     int r) const {
    const std::int64_t bytes =
        tile.lanes.width() * std::int64_t(size_of(graph_.real));
    Value* index = tile.lanes.b.CreateMul(
        tile.values.index_of(component),
        tile.lanes.constant(tile.rows * lowered_.accumulators));
    return tile.lanes.at(tile.memory, index, which * tile.rows + r, bytes);
}

void MonoidWriter::update(Tile& tile, const EachStep& each_step,
                          llvm::Type* type, const Address& address,
                          const First& first, const Next& next,
                          const Last& last) {
    auto& b = tile.lanes.b;
    tile.values.each_block(
        components_, lowered_.components_at_once, [&](Component at, int count) {
            std::vector<Value*> sums;
            const auto each = [&](const auto& body) {
                for (int k = 0; k < count; ++k)
                    for (int r = 0; r < tile.rows; ++r)
                        body(Component{at.fixed + k, at.runtime}, r,
                             sums[std::size_t(k * tile.rows + r)]);
            };
            sums.resize(std::size_t(count * tile.rows));
            each([&](Component k, int r, Value*& sum) {
                sum = tile.lanes.variable(type);
                b.CreateStore(first(b.CreateLoad(type, address(k, r)), r), sum);
            });
            each_step(1, [&] {
                each([&](Component k, int r, Value*& sum) {
                    b.CreateStore(next(b.CreateLoad(type, sum), k, r, 0), sum);
                });
            });
            each([&](Component k, int r, Value*& sum) {
                Value* place = address(k, r);
                b.CreateStore(
                    last(b.CreateLoad(type, sum), b.CreateLoad(type, place), r),
                    place);
            });
        });
}

std::unique_ptr<MonoidWriter> make_monoid(const ir::Graph& graph,
                                          const LoweredReduction& lowered) {
    switch (ir::family_of(graph[lowered.id])) {
    case ir::MonoidFamily::Plain:
        return make_plain(graph, lowered);
    case ir::MonoidFamily::Location:
        return make_arg(graph, lowered);
    case ir::MonoidFamily::Exponential:
        return make_exponential(graph, lowered);
    case ir::MonoidFamily::List:
        return make_k_minimum(graph, lowered);
    case ir::MonoidFamily::UserDefined:
        return make_fold(graph, lowered);
    }
    __builtin_unreachable();
}

} // namespace tilefold::llvm_backend
