// compiler/backends/llvm/evaluate/evaluate.cpp - values of the graph as lane
// values.

#include "compiler/backends/llvm/evaluate/evaluate.h"

#include "compiler/backends/llvm/memory/caller.h"
#include "formulas/diagnostic.h"

#include <limits>
#include <set>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
using ir::ValueId;
using llvm::Value;

Evaluator::Evaluator(const ir::Graph& graph, Lanes& lanes,
                     const FunctionTable& functions, int unroll, Value* width,
                     Leaves leaves)
    : graph_(graph), lanes_(lanes), functions_(functions), unroll_(unroll),
      width_(width), leaves_(std::move(leaves)), signs_(ir::signs(graph)) {}

Evaluator::Cell Evaluator::cell_of(ValueId id, Component component, int row,
                                   int column) const {
    const Type& type = graph_[id].type;
    if (type.rank == 0)
        component = {};
    return {id, component.fixed, component.runtime,
            contains(type.axes, Axes::I) ? row : -1,
            contains(type.axes, Axes::J) ? column : -1};
}

/// A value is one instruction or more. Throws TooLarge.
void Evaluator::remember(const Cell& cell, Value* value) {
    if (++computed_ > tilefold_most_instructions)
        throw TooLarge();
    memory_[cell] = value;
    log_.push_back(cell);
}

Value* Evaluator::index_of(Component component) const {
    Value* fixed = lanes_.constant(component.fixed);
    return component.runtime ? lanes_.b.CreateAdd(component.runtime, fixed)
                             : fixed;
}

Component Evaluator::shifted(Component component, std::int64_t scale,
                             std::int64_t offset) const {
    Component result{component.fixed * scale + offset, component.runtime};
    if (component.runtime && scale != 1)
        result.runtime =
            lanes_.b.CreateMul(component.runtime, lanes_.constant(scale));
    return result;
}

void Evaluator::each_component(std::int64_t components,
                               const std::function<void(Component)>& body) {
    if (unrolled(components)) {
        for (std::int64_t k = 0; k < components; ++k)
            body({k, nullptr});
        return;
    }
    Value* count = components == dynamic ? width_ : lanes_.constant(components);
    lanes_.loop(lanes_.constant(0), count, lanes_.constant(1),
                [&](Value* index) {
                    Scope scope(*this);
                    body({0, index});
                });
}

void Evaluator::each_block(
    std::int64_t components, int block,
    const std::function<void(Component at, int count)>& body) {
    const auto loop = [&](Value* from, Value* to, int count) {
        lanes_.loop(from, to, lanes_.constant(count), [&](Value* index) {
            Scope scope(*this);
            body({0, index}, count);
        });
    };
    Value* zero = lanes_.constant(0);
    if (components != dynamic) {
        const std::int64_t whole = components / block * block;
        if (whole > 0)
            loop(zero, lanes_.constant(whole), block);
        if (whole < components)
            loop(lanes_.constant(whole), lanes_.constant(components),
                 int(components - whole));
        return;
    }
    auto& b = lanes_.b;
    Value* size = lanes_.constant(block);
    Value* whole = b.CreateMul(b.CreateSDiv(width_, size), size);
    loop(zero, whole, block);
    loop(whole, width_, 1);
}

Value* Evaluator::value(ValueId id, Component component, int row, int column) {
    const Cell cell = cell_of(id, component, row, column);
    if (const auto found = memory_.find(cell); found != memory_.end())
        return found->second;
    if (graph_[id].type.rank == 0)
        component = {};
    const Leaf leaf = leaves_(id);
    Value* result = leaf ? leaf.read(component, row, column)
                         : compute(id, component, row, column);
    remember(cell, result);
    return result;
}

Value* Evaluator::compute(ValueId id, Component component, int row,
                          int column) {
    const Node& node = graph_[id];
    switch (node.op) {
    case Op::Constant:
        return lanes_.number(node.type.dtype, node.value);
    case Op::IntPow: {
        Value* base = lanes_.as(
            node.type.dtype, value(node.operands[0], component, row, column));
        Value* power = emit_int_pow(lanes_, base, node.first);
        if (watch_)
            watch_(id, base, power);
        return power;
    }
    case Op::Slice:
        return value(node.operands[0],
                     node.type.rank == 0 ? Component{node.first, nullptr}
                                         : shifted(component, 1, node.first),
                     row, column);
    case Op::Submatrix:
        return value(node.operands[0], place_in_matrix(node, component), row,
                     column);
    case Op::Concat:
        return joined(id, component, row, column);
    case Op::Broadcast:
        return value(node.operands[0], {}, row, column);
    case Op::Cross:
        return cross(id, component, row, column);
    case Op::Outer:
        return outer(id, component, row, column);
    case Op::Iota:
        if (!component.runtime)
            return lanes_.number(DType::I64, double(component.fixed));
        return component.runtime->getType()->isVectorTy()
                   ? component.runtime
                   : lanes_.splat(index_of(component));
    case Op::Gather:
    case Op::GatherRow:
    case Op::GatherElement:
        return gathered(id, component, row, column);
    default:
        break;
    }
    if (!is_contraction(node.op))
        return elementwise(id, component, row, column);
    contract(id, component, {row, 1, column, 1});
    return memory_.at(cell_of(id, component, row, column));
}

Value* Evaluator::elementwise(ValueId id, Component component, int row,
                              int column) {
    const Node& node = graph_[id];
    llvm::SmallVector<Value*, 3> operands;
    llvm::SmallVector<Known, 3> known;
    for (ValueId operand : node.inputs()) {
        operands.push_back(value(operand, component, row, column));
        known.push_back(
            {signs_[operand], graph_[operand].type.axes == Axes::None});
    }
    Value* result = emit_operation(lanes_, functions_, node.op, node.type.dtype,
                                   known, operands);
    if (watch_)
        watch_(id, operands, result);
    return result;
}

/// Returns which component of the matrix is that of a Submatrix.
Component Evaluator::place_in_matrix(const Node& submatrix,
                                     Component component) const {
    if (!component.runtime)
        return {component_of_matrix(graph_, submatrix, component.fixed)};
    auto& b = lanes_.b;
    Value* index = index_of(component);
    Value* columns = lanes_.constant(submatrix.third);
    Value* of_row = lanes_.constant(graph_[submatrix.operands[0]].type.columns);
    return {submatrix.first,
            b.CreateAdd(b.CreateMul(b.CreateUDiv(index, columns), of_row),
                        b.CreateURem(index, columns))};
}

/// Returns a component of a concatenation: of the left operand, then of the
/// right.
Value* Evaluator::joined(ValueId id, Component component, int row, int column) {
    const Node& node = graph_[id];
    const auto [left, right] = std::pair(node.operands[0], node.operands[1]);
    const std::int64_t length = components_of(graph_[left].type);
    const auto of = [&](ValueId operand, Component at) {
        return lanes_.as(node.type.dtype, value(operand, at, row, column));
    };
    if (!component.runtime)
        return component.fixed < length
                   ? of(left, component)
                   : of(right, {component.fixed - length, nullptr});
    // Both operands are read, at numbers held inside their range.
    auto& b = lanes_.b;
    Value* index = index_of(component);
    Value* last = lanes_.constant(length - 1);
    Value* is_left = b.CreateICmpSLE(index, last);
    Value* in_left = b.CreateSelect(is_left, index, last);
    Value* in_right =
        b.CreateSelect(is_left, lanes_.constant(0),
                       b.CreateSub(index, lanes_.constant(length)));
    return b.CreateSelect(is_left, of(left, {0, in_left}),
                          of(right, {0, in_right}));
}

Value* Evaluator::cross(ValueId id, Component component, int row, int column) {
    const Node& node = graph_[id];
    if (component.runtime) {
        Value* chosen = cross(id, {2, nullptr}, row, column);
        for (std::int64_t k : {1, 0}) {
            Value* is_k = lanes_.b.CreateICmpEQ(
                component.runtime,
                llvm::ConstantInt::get(component.runtime->getType(),
                                       std::uint64_t(k - component.fixed),
                                       true));
            chosen = lanes_.b.CreateSelect(
                is_k, cross(id, {k, nullptr}, row, column), chosen);
        }
        return chosen;
    }
    const auto at = [&](int operand, std::int64_t offset) {
        const Component k{(component.fixed + offset) % 3, nullptr};
        return lanes_.as(
            node.type.dtype,
            value(node.operands[std::size_t(operand)], k, row, column));
    };
    auto& b = lanes_.b;
    return b.CreateFSub(b.CreateFMul(at(0, 1), at(1, 2)),
                        b.CreateFMul(at(0, 2), at(1, 1)));
}

/// Returns component r * C + c of an outer product.
Value* Evaluator::outer(ValueId id, Component component, int row, int column) {
    const Node& node = graph_[id];
    const std::int64_t columns = graph_[node.operands[1]].type.rows;
    Component r{component.fixed / columns, nullptr};
    Component c{component.fixed % columns, nullptr};
    auto& b = lanes_.b;
    if (component.runtime) {
        Value* index = index_of(component);
        r = {0, b.CreateUDiv(index, lanes_.constant(columns))};
        c = {0, b.CreateURem(index, lanes_.constant(columns))};
    }
    const auto at = [&](int operand, Component k) {
        return lanes_.as(
            node.type.dtype,
            value(node.operands[std::size_t(operand)], k, row, column));
    };
    return b.CreateFMul(at(0, r), at(1, c));
}

/// An element of a table, at a place that is checked before.
Value* Evaluator::gathered(ValueId id, Component component, int row,
                           int column) {
    const Node& node = graph_[id];
    const Type& table = graph_[node.operands[0]].type;
    auto& b = lanes_.b;
    const std::int64_t lengths[] = {table.rows, table.columns};
    llvm::SmallVector<Value*> subscripts;
    Value* holds = nullptr;
    for (std::size_t k = 1; k < node.arity; ++k) {
        const Whole index =
            integer_of(lanes_, value(node.operands[k], {}, row, column));
        Value* inside = b.CreateICmpULT(
            index.number, lanes_.number(DType::I64, double(lengths[k - 1])));
        holds =
            both_hold(lanes_, both_hold(lanes_, holds, index.holds), inside);
        subscripts.push_back(index.number);
    }
    if (node.op == Op::GatherRow)
        subscripts.push_back(lanes_.splat(index_of(component)));
    Value* found = element_at(node.operands[0], subscripts, holds, row, column);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return lanes_.select(holds, lanes_.as(node.type.dtype, found),
                         lanes_.number(node.type.dtype, nan));
}

/// Where `holds` is false, any other element.
Value* Evaluator::element_at(ValueId table, llvm::ArrayRef<Value*> subscripts,
                             Value* holds, int row, int column) {
    auto& b = lanes_.b;
    const Type& type = graph_[table].type;
    Value* none = lanes_.number(DType::I64, 0);
    if (const Leaf leaf = leaves_(table); leaf.element) {
        llvm::SmallVector<Value*> inside;
        for (Value* subscript : subscripts)
            inside.push_back(lanes_.select(holds, subscript, none));
        return leaf.element(inside);
    }
    Value* place = subscripts[0];
    if (subscripts.size() == 2)
        place = b.CreateAdd(
            b.CreateMul(place, lanes_.number(DType::I64, double(type.columns))),
            subscripts[1]);
    place = lanes_.select(holds, place, none);
    const bool constant = type.axes == Axes::None || lanes_.width() == 1;
    return constant ? value(table, {0, place}, row, column)
                    : chosen(table, place, row, column);
}

/// Returns component `place` of a vector on an axis, which differs from lane
/// to lane.
Value* Evaluator::chosen(ValueId table, Value* place, int row, int column) {
    auto& b = lanes_.b;
    llvm::Type* type = lanes_.type(graph_[table].type.dtype);
    Value* variable = lanes_.variable(type);
    b.CreateStore(llvm::Constant::getNullValue(type), variable);
    each_component(components_of(graph_[table].type), [&](Component at) {
        Value* here = b.CreateICmpEQ(place, lanes_.splat(index_of(at)));
        b.CreateStore(lanes_.select(here, value(table, at, row, column),
                                    b.CreateLoad(type, variable)),
                      variable);
    });
    return b.CreateLoad(type, variable);
}

void Evaluator::hoist_scalars(ValueId root, int rows, int columns) {
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        if (!seen.insert(id).second)
            return;
        if (graph_[id].type.rank == 0) {
            for (int r = 0; r < rows; ++r)
                for (int j = 0; j < columns; ++j)
                    value(id, {}, r, j);
        } else if (!leaves_(id)) {
            for (ValueId operand : graph_[id].inputs())
                walk(operand);
        }
    };
    walk(root);
}

} // namespace tilefold::llvm_backend
