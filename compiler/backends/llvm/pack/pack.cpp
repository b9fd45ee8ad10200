// compiler/backends/llvm/pack/pack.cpp - packing the values of a run of points.

#include "compiler/backends/llvm/pack/pack.h"

#include "compiler/backends/llvm/pack/word_load.h"

#include <algorithm>
#include <vector>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
using ir::ValueId;
using llvm::Value;

Value* Pack::address(const Lanes& lanes, Value* scratch, ValueId id,
                     Component component, Value* point) const {
    auto& b = lanes.b;
    const Operand& operand = operands_.of.at(id);
    const auto size = std::int64_t(size_of(operand.dtype));
    Value* row = lanes.byte_offset(
        scratch, operand.place.offset + component.fixed * operand.component);
    if (operand.place.per_width)
        row = lanes.at(row, width_, 0, operand.place.per_width);
    if (component.runtime)
        row = lanes.at(row, component.runtime, 0, operand.component);
    if (operand.order == OperandOrder::Components)
        return lanes.at(row, point, 0, size);
    if (operand.order == OperandOrder::Points)
        return lanes.byte_offset(row,
                                 b.CreateMul(point, run_of(lanes, operand)));
    Value* tile = lanes.constant(operands_.tile);
    row = lanes.at(row, b.CreateUDiv(point, tile), 0, operand.run);
    return lanes.at(row, b.CreateURem(point, tile), 0, size);
}

Value* Pack::run_of(const Lanes& lanes, const Operand& operand) const {
    if (operand.run)
        return lanes.constant(operand.run);
    auto& b = lanes.b;
    const std::int64_t multiple = operands_.run_multiple(operand.component);
    Value* bytes = b.CreateMul(width_, lanes.constant(operand.component));
    return b.CreateAnd(b.CreateAdd(bytes, lanes.constant(multiple - 1)),
                       lanes.constant(-multiple));
}

/// Returns the axis' list of points, or null where all come in order.
Value* Pack::list_of(Lanes& lanes, Value* call) const {
    const std::size_t list = operands_.axis == Axes::I
                                 ? offsetof(tilefold_kernel_call, row_index)
                                 : offsetof(tilefold_kernel_call, column_index);
    return writer_.field(lanes.b, call, list, true);
}

Pack::Source Pack::source_of(Lanes& lanes, ValueId id, Value* call) const {
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    const auto operand = [&](OperandField field) {
        return writer_.operand_field(b, call, node.first, field);
    };
    const DType stored = writer_.graph.arguments[std::size_t(node.first)].dtype;
    return {writer_.strided_load(stored, writer_.packed_dtype(id)),
            operand(OperandField::Base), operand(OperandField::Stride),
            operand(OperandField::Component), list_of(lanes, call)};
}

/// Whether points come in order, and the components of each, of `size` bytes,
/// lie beside each other.
Value* Pack::are_neighbours(Lanes& lanes, const Source& source,
                            std::int64_t size) {
    auto& b = lanes.b;
    return b.CreateAnd(b.CreateIsNull(source.list),
                       b.CreateICmpEQ(source.step, lanes.constant(size)));
}

/// A run of `count` points from `point` of the part on, all in one tile, in
/// components from `component` on; then zeros, `padded` elements in all.
void Pack::load_components(Lanes& lanes, ValueId id, const Source& source,
                           Value* first, Value* count, Value* padded,
                           Value* scratch, Value* component, Value* components,
                           Value* point) const {
    auto& b = lanes.b;
    lanes.loop(component, components, lanes.constant(1), [&](Value* index) {
        Value* base =
            b.CreatePtrAdd(source.base, b.CreateMul(index, source.step));
        b.CreateCall(source.load,
                     {base, source.stride, source.list, first, count,
                      address(lanes, scratch, id, {0, index}, point), padded});
    });
}

/// Points whose few components are neighbours, as in an array of the usual
/// order, are read in whole vectors and shuffled apart. Gives the number of
/// points that were, with the zeros that fill up the last vector.
Value* Pack::load_interleaved(Lanes& lanes, ValueId id, const Source& source,
                              Value* first, Value* count,
                              Value* scratch) const {
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    const DType dtype = writer_.packed_dtype(id);
    const std::int64_t components = node.type.rank == 1 ? node.type.rows : 1;
    const DType stored = writer_.graph.arguments[std::size_t(node.first)].dtype;
    if (components < 2 || components > writer_.plan.unroll || stored != dtype ||
        kind_of(dtype) != DTypeKind::Float || lanes.width() == 1)
        return lanes.constant(0);
    const auto size = std::int64_t(size_of(dtype));
    Value* usual = b.CreateAnd(
        are_neighbours(lanes, source, size),
        b.CreateICmpEQ(source.stride, lanes.constant(size * components)));
    Value* whole = row_of(lanes.isa()).masks
                       ? count
                       : b.CreateAnd(count, lanes.constant(-lanes.width()));
    Value* done = b.CreateSelect(usual, whole, lanes.constant(0));
    b.CreateCall(writer_.interleaved_load(dtype, int(components)),
                 {lanes.at(source.base, first, 0, size * components), done,
                  address(lanes, scratch, id, {}, lanes.constant(0)),
                  lanes.constant(operands_.of.at(id).component)});
    return b.CreateAnd(b.CreateAdd(done, lanes.constant(lanes.width() - 1)),
                       lanes.constant(-lanes.width()));
}

/// Loads some points of a tile, which begins at `point` of the part.
void Pack::load_tile(Lanes& lanes, ValueId id, const Source& source,
                     Value* first, Value* count, Value* scratch,
                     Value* point) const {
    Value* tile = lanes.constant(operands_.tile);
    Value* components = lanes.constant(components_of(writer_.graph[id].type));
    Value* done = load_squares(lanes, id, source, first, count, scratch, point);
    load_components(lanes, id, source, first, count, tile, scratch, done,
                    components, point);
}

/// Reads tiles whose components are neighbours: squares of so many points and
/// components as there are lanes, in whole vectors that are turned. Returns the
/// number of components that were read.
Value* Pack::load_squares(Lanes& lanes, ValueId id, const Source& source,
                          Value* first, Value* count, Value* scratch,
                          Value* point) const {
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    const DType dtype = writer_.packed_dtype(id);
    const DType stored = writer_.graph.arguments[std::size_t(node.first)].dtype;
    const int width = lanes.width();
    const std::int64_t components = components_of(node.type);
    const bool has_masks = row_of(lanes.isa()).masks;
    const std::int64_t rest = has_masks ? components % width : 0;
    const std::int64_t whole = components / width * width;
    if (dtype != writer_.graph.real || kind_of(stored) != DTypeKind::Float ||
        node.type.rank != 1 || node.type.rows == dynamic || whole + rest == 0)
        return lanes.constant(0);
    Value* usual = are_neighbours(lanes, source, std::int64_t(size_of(stored)));
    const auto squares_from = [&](Value* k, int components_of_square) {
        lanes.loop(
            lanes.constant(0), lanes.constant(operands_.tile),
            lanes.constant(width), [&](Value* p) {
                load_square(
                    lanes, id, source,
                    {first, p, b.CreateSub(count, p), k, components_of_square},
                    address(lanes, scratch, id, {0, k}, b.CreateAdd(point, p)));
            });
    };
    lanes.loop(lanes.constant(0),
               b.CreateSelect(usual, lanes.constant(whole), lanes.constant(0)),
               lanes.constant(width),
               [&](Value* k) { squares_from(k, width); });
    if (rest > 0)
        lanes.when(usual,
                   [&] { squares_from(lanes.constant(whole), int(rest)); });
    return b.CreateSelect(usual, lanes.constant(whole + rest),
                          lanes.constant(0));
}

/// Reads a square. A point that it has no more is read as the last one, and
/// written as zeros.
void Pack::load_square(Lanes& lanes, ValueId id, const Source& source,
                       const Square& at, Value* out) const {
    auto& b = lanes.b;
    const DType dtype = writer_.packed_dtype(id);
    const DType stored =
        writer_.graph.arguments[std::size_t(writer_.graph[id].first)].dtype;
    const int width = lanes.width();
    Value* last = b.CreateSub(at.left, lanes.constant(1));
    Value* mask = at.components < width
                      ? lanes.first_lanes(lanes.constant(at.components))
                      : nullptr;
    std::vector<Value*> square;
    for (int n = 0; n < width; ++n) {
        Value* nearest = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last,
                                                 lanes.constant(n));
        Value* number = b.CreateAdd(at.first, b.CreateAdd(at.point, nearest));
        Value* place =
            b.CreatePtrAdd(source.base, b.CreateMul(number, source.stride));
        square.push_back(load_elements(
            lanes, stored, dtype,
            lanes.at(place, at.component, 0, std::int64_t(size_of(stored))),
            mask));
    }
    lanes.transpose(square);
    Value* is_point = lanes.first_lanes(at.left);
    for (int n = 0; n < at.components; ++n)
        lanes.store(lanes.select(is_point, square[std::size_t(n)],
                                 lanes.number(dtype, 0)),
                    lanes.byte_offset(out, n * operands_.of.at(id).component));
}

/// The components of a point are what lies in a run.
void Pack::load_points(Lanes& lanes, ValueId id, const Source& source,
                       Value* first, Value* count, Value* scratch,
                       Value* components) const {
    auto& b = lanes.b;
    Value* zero = lanes.constant(0);
    Value* no_list = llvm::Constant::getNullValue(b.getPtrTy());
    Value* done = load_runs(lanes, id, source, first, count, scratch);
    each_point(lanes, source, b.CreateAdd(first, done),
               b.CreateSub(count, done), [&](Value* k, Value* base) {
                   b.CreateCall(source.load,
                                {base, source.step, no_list, zero, components,
                                 address(lanes, scratch, id, {}, k),
                                 components});
               });
}

/// Reads points of a few neighbouring components, of which a call for each
/// would take longer than the copy. Returns how many points were read: all or
/// none.
Value* Pack::load_runs(Lanes& lanes, ValueId id, const Source& source,
                       Value* first, Value* count, Value* scratch) const {
    constexpr std::size_t most_pieces = 6;
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    const DType dtype = writer_.packed_dtype(id);
    const DType stored = writer_.graph.arguments[std::size_t(node.first)].dtype;
    const auto size = std::int64_t(size_of(stored));
    std::vector<int> pieces; // powers of two
    int piece = lanes.width();
    for (std::int64_t left = node.type.rank == 1 ? node.type.rows : 0; left > 0;
         left -= piece) {
        while (piece > left)
            piece /= 2;
        pieces.push_back(piece);
    }
    if (stored != dtype || pieces.empty() || pieces.size() > most_pieces)
        return lanes.constant(0);
    Value* usual = are_neighbours(lanes, source, size);
    Value* done = b.CreateSelect(usual, count, lanes.constant(0));
    lanes.loop(lanes.constant(0), done, lanes.constant(1), [&](Value* k) {
        Value* from = b.CreatePtrAdd(
            source.base, b.CreateMul(b.CreateAdd(first, k), source.stride));
        Value* to = address(lanes, scratch, id, {}, k);
        std::int64_t component = 0;
        for (int width : pieces) {
            const Lanes some = writer_.lanes(b, width);
            const auto align = llvm::Align(std::uint64_t(size));
            b.CreateAlignedStore(
                load_elements(some, stored, dtype,
                              some.byte_offset(from, component * size)),
                some.byte_offset(to, component * size), align);
            component += width;
        }
    });
    return done;
}

/// Calls `body` for points 0 … of the part, with the address of their first
/// component.
void Pack::each_point(
    Lanes& lanes, const Source& source, Value* first, Value* count,
    const std::function<void(Value* point, Value* base)>& body) const {
    auto& b = lanes.b;
    Value* zero = lanes.constant(0);
    Value* listed = b.CreateIsNotNull(source.list);
    const auto visit = [&](Value* k, Value* number) {
        body(k,
             b.CreatePtrAdd(source.base, b.CreateMul(number, source.stride)));
    };
    lanes.loop(zero, b.CreateSelect(listed, zero, count), lanes.constant(1),
               [&](Value* k) { visit(k, b.CreateAdd(first, k)); });
    lanes.loop(zero, b.CreateSelect(listed, count, zero), lanes.constant(1),
               [&](Value* k) {
                   Value* number =
                       lanes.at(source.list, b.CreateAdd(first, k), 0, 8);
                   visit(k, b.CreateLoad(b.getInt64Ty(), number));
               });
}

/// Loads the words of all points, then what has one index: of rows in lanes of
/// points.
void Pack::load_words(Lanes& lanes, ValueId id, const Source& source,
                      Value* first, Value* count, Value* scratch) const {
    auto& b = lanes.b;
    const Words& of = *writer_.words_of(id);
    const bool is_row = operands_.of.at(id).order == OperandOrder::Tiles;
    llvm::Function* load = word_load(writer_, of, is_row);
    Value* spread = lanes.constant(operands_.of.at(id).component);
    each_point(lanes, source, first, count, [&](Value* k, Value* base) {
        b.CreateCall(load, {base, source.step,
                            address(lanes, scratch, id, {}, k), spread});
    });
    if (!of.exact())
        return;
    const Lanes points = writer_.lanes(b, is_row ? lanes.width() : 1);
    lanes.loop(
        lanes.constant(0), count, lanes.constant(points.width()),
        [&](Value* k) {
            Value* one = emit_one_index(points, of, is_row, [&](Value* word) {
                return points.load(DType::F32,
                                   address(lanes, scratch, id, {0, word}, k));
            });
            b.CreateAlignedStore(one,
                                 address(lanes, scratch, id, {of.padded()}, k),
                                 llvm::Align(4));
        });
}

/// Returns `count` with the points that fill up a tile, and a vector.
Value* Pack::padded(Lanes& lanes, Value* count) const {
    auto& b = lanes.b;
    const std::int64_t tile =
        std::max<std::int64_t>(operands_.tile, lanes.width());
    Value* above = b.CreateAdd(count, lanes.constant(tile - 1));
    return b.CreateMul(b.CreateUDiv(above, lanes.constant(tile)),
                       lanes.constant(tile));
}

/// Writes zeros in the last tile, which has less than its points.
void Pack::clear_rest(Lanes& lanes, ValueId id, Value* count, Value* scratch,
                      std::int64_t components) const {
    auto& b = lanes.b;
    const DType dtype = writer_.packed_dtype(id);
    Value* end = padded(lanes, count);
    const std::int64_t tile =
        std::max<std::int64_t>(operands_.tile, lanes.width());
    Value* whole = b.CreateMul(b.CreateUDiv(count, lanes.constant(tile)),
                               lanes.constant(tile));
    lanes.loop(whole, end, lanes.constant(lanes.width()), [&](Value* point) {
        lanes.loop(lanes.constant(0), lanes.constant(components),
                   lanes.constant(1), [&](Value* k) {
                       lanes.store(lanes.number(dtype, 0),
                                   address(lanes, scratch, id, {0, k}, point));
                   });
    });
}

/// Writes zeros in the points that fill up the last vector of them.
void Pack::clear_points(Lanes& lanes, ValueId id, Value* count, Value* scratch,
                        Value* components) const {
    const DType dtype = writer_.packed_dtype(id);
    lanes.loop(count, padded(lanes, count), lanes.constant(1), [&](Value* k) {
        lanes.loop(lanes.constant(0), components, lanes.constant(lanes.width()),
                   [&](Value* run) {
                       lanes.store(lanes.number(dtype, 0),
                                   address(lanes, scratch, id, {0, run}, k));
                   });
    });
}

void Pack::load_leaf(Lanes& lanes, ValueId id, Value* call, Value* first,
                     Value* count, Value* scratch, Value* width) const {
    auto& b = lanes.b;
    const Node& node = writer_.graph[id];
    Value* zero = lanes.constant(0);
    if (node.op == Op::Index) {
        clear_rest(lanes, id, count, scratch, 1);
        b.CreateCall(writer_.count_points(),
                     {list_of(lanes, call), first, count,
                      address(lanes, scratch, id, {}, zero)});
        return;
    }
    const Source source = source_of(lanes, id, call);
    Value* components = node.type.rows == dynamic && node.type.rank == 1
                            ? width
                            : lanes.constant(components_of(node.type));
    const OperandOrder order = operands_.of.at(id).order;
    if (const Words* words = writer_.words_of(id)) {
        if (order == OperandOrder::Tiles)
            clear_rest(lanes, id, count, scratch, words->packed());
        return load_words(lanes, id, source, first, count, scratch);
    }
    if (order == OperandOrder::Components) {
        Value* done =
            load_interleaved(lanes, id, source, first, count, scratch);
        Value* left = b.CreateSub(padded(lanes, count), done);
        return load_components(
            lanes, id, source, b.CreateAdd(first, done),
            b.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                    b.CreateSub(count, done), zero),
            left, scratch, zero,
            b.CreateSelect(b.CreateICmpSGT(left, zero), components, zero),
            done);
    }
    if (order == OperandOrder::Points) {
        load_points(lanes, id, source, first, count, scratch, components);
        if (!operands_.values.computed
                 .empty()) // whose lanes are points, perhaps
            clear_points(lanes, id, count, scratch, components);
        return;
    }
    Value* tile = lanes.constant(operands_.tile);
    lanes.loop(zero, count, tile, [&](Value* point) {
        Value* left = b.CreateSub(count, point);
        load_tile(lanes, id, source, b.CreateAdd(first, point),
                  b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, tile),
                  scratch, point);
    });
}

Constants::Constants(ModuleWriter& writer, Lanes& lanes, Value* call)
    : writer_(writer), lanes_(lanes), call_(call),
      base_(writer.kernel.placement.constants_size
                ? writer.field(lanes.b, call,
                               offsetof(tilefold_kernel_call, constants), true)
                : nullptr) {}

Leaf Constants::leaf(ValueId id) {
    const Placement& placement = writer_.kernel.placement;
    if (placement.in_place.count(id))
        return {.element = [=, this](llvm::ArrayRef<Value*> subscripts) {
            return element(id, subscripts);
        }};
    if (!placement.constants.count(id))
        return {};
    return {[=, this](Component at, int, int) { return read(id, at); }};
}

Value* Constants::element(ValueId id, llvm::ArrayRef<Value*> subscripts) const {
    auto& b = lanes_.b;
    const std::int64_t argument = writer_.graph[id].first;
    const DType stored = writer_.graph.arguments[std::size_t(argument)].dtype;
    const OperandField steps[] = {OperandField::Component,
                                  OperandField::Column};
    Value* bytes = lanes_.number(DType::I64, 0);
    for (std::size_t k = 0; k < subscripts.size(); ++k) {
        Value* step = writer_.operand_field(b, call_, argument, steps[k]);
        bytes =
            b.CreateAdd(bytes, b.CreateMul(subscripts[k], lanes_.splat(step)));
    }
    Value* base = writer_.operand_field(b, call_, argument, OperandField::Base);
    Value* places = b.CreatePtrAdd(base, bytes);
    const llvm::Align align(size_of(stored));
    if (lanes_.width() == 1)
        return b.CreateAlignedLoad(lanes_.element(stored), places, align);
    return b.CreateMaskedGather(lanes_.type(stored), places, align);
}

Value* Constants::address(llvm::IRBuilder<>& b, ValueId id,
                          Value* index) const {
    const std::int64_t place = writer_.kernel.placement.constants.at(id);
    Value* first = b.CreatePtrAdd(base_, b.getInt64(std::uint64_t(place * 8)));
    return b.CreateGEP(lanes_.element(dtype_of(id)), first, index);
}

DType Constants::dtype_of(ValueId id) const {
    return constant_dtype(writer_.graph, writer_.kernel.placement, id);
}

Value* Constants::read_run(ValueId id, Value* first) const {
    auto& b = lanes_.b;
    const DType dtype = dtype_of(id);
    llvm::Type* numbers = lanes_.type(dtype);
    Value* left =
        b.CreateSub(lanes_.constant(writer_.graph[id].type.rows), first);
    return b.CreateMaskedLoad(
        numbers, address(b, id, first), llvm::Align(size_of(dtype)),
        lanes_.first_lanes(left), llvm::Constant::getNullValue(numbers));
}

Value* Constants::read(ValueId id, Component component) {
    const DType dtype = writer_.graph[id].type.dtype;
    const bool is_rounded =
        dtype == DType::F64 && !writer_.kernel.placement.exact.count(id);
    const auto load = [&](llvm::IRBuilder<>& b, Value* index) {
        Lanes scalar = writer_.lanes(b, 1);
        Value* number =
            b.CreateLoad(lanes_.element(dtype_of(id)), address(b, id, index));
        return writer_.lanes(b, lanes_.width())
            .splat(scalar.as(is_rounded ? writer_.graph.real : dtype, number));
    };
    if (component.runtime && component.runtime->getType()->isVectorTy())
        return lanes_.b.CreateMaskedGather(
            lanes_.type(dtype_of(id)), address(lanes_.b, id, component.runtime),
            llvm::Align(size_of(dtype_of(id))));
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
