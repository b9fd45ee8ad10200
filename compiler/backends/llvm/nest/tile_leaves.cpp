// compiler/backends/llvm/nest/tile_leaves.cpp - what a pair's term reads in a
// tile, and values of pairs that are kept in scratch.

#include "compiler/backends/llvm/nest/tile_leaves.h"

#include "compiler/backends/llvm/matmul/amx_tiles.h"

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

Leaf TileLeaves::leaf(ValueId id) {
    if (Leaf constant = entry_.constants->leaf(id); constant)
        return constant;
    if (!rows_.has(id) && !columns_.has(id) && !kept_.slabs.has(id) &&
        !kept_.tiles.has(id) && !(shown_ && kept_.scalars.has(id)) &&
        !is_shown(id))
        return {};
    return {[=, this](Component at, int row, int column) {
                return read(id, at, row, column);
            },
            entry_.writer.words_of(id)};
}

Value* TileLeaves::read(ValueId id, Component component, int row, int column) {
    const DType dtype = entry_.writer.graph[id].type.dtype;
    if (kept_.vectors.has(id))
        return entry_.lanes.load(dtype,
                                 vector_address(id, component, row, column));
    if (kept_.tiles.has(id))
        return finished_sum(id, row, column);
    if (kept_.slabs.has(id))
        return entry_.lanes.load(dtype, sum_address(id, row, column));
    if (kept_.scalars.has(id))
        return entry_.lanes.load(dtype, scalar_address(id, row, column));
    return rows_.has(id) ? read_row(id, component, row)
                         : read_column(id, component, column);
}

bool TileLeaves::is_shown(ValueId id) const {
    const auto of = kept_.vectors.of.find(id);
    return of != kept_.vectors.of.end() &&
           (vectors_.count(id) > 0 || (shown_ && of->second.for_tile));
}

Value* TileLeaves::vector_address(ValueId id, Component component, int row,
                                  int column) const {
    const KeptVector& vector = kept_.vectors.of.at(id);
    const Lanes& lanes = entry_.lanes;
    const ModuleWriter& writer = entry_.writer;
    const auto size =
        lanes.width() * std::int64_t(size_of(writer.graph[id].type.dtype));
    const std::int64_t vectors = writer.plan.row_vectors;
    const std::int64_t run = vector.columns * vectors * size;
    Value* place =
        lanes.byte_offset(scratch_, vector.offset + component.fixed * run +
                                        (column * vectors + row) * size);
    if (component.runtime)
        place = lanes.at(place, component.runtime, 0, run);
    if (vector.for_tile)
        place = lanes.at(place, entry_.b.CreateSub(column_, first_), 0,
                         vectors * size);
    return place;
}

void TileLeaves::begin_tile(Value* row) {
    row_ = row;
    in_registers_.clear();
    const Plan& plan = entry_.writer.plan;
    const Packed& values = entry_.writer.kernel.placement.rows;
    for (const auto* list : {&values.leaves, &values.computed})
        for (ValueId id : *list) {
            const std::int64_t components =
                components_of(entry_.writer.graph[id].type);
            if (components > plan.unroll)
                continue;
            for (std::int64_t k = 0; k < components; ++k)
                for (int r = 0; r < plan.row_vectors; ++r)
                    in_registers_[{id, k, r}] = load_row(id, {k, nullptr}, r);
        }
}

Value* TileLeaves::address(const Kept& kept, ValueId id, Value* at_column,
                           int row, int column) const {
    const ModuleWriter& writer = entry_.writer;
    const auto size = entry_.lanes.width() *
                      std::int64_t(size_of(writer.graph[id].type.dtype));
    const std::int64_t vectors = writer.plan.row_vectors;
    return entry_.lanes.at(
        entry_.lanes.byte_offset(scratch_, kept.offsets.at(id) +
                                               (column * vectors + row) * size),
        at_column, 0, vectors * size);
}

Value* TileLeaves::finished_sum(ValueId id, int row, int column) {
    const ModuleWriter& writer = entry_.writer;
    const Node& node = writer.graph[id];
    const Words* words = writer.words_of(node.operands[0]);
    Value* place = in_column_tile(kept_.tiles, id, row, column);
    if (!words || !words->exact())
        return entry_.lanes.load(node.type.dtype, place);
    const auto [of_row, of_column] = rows_first(writer.graph, node);
    const Component rest{words->padded(), nullptr};
    return finish_words(
        entry_.lanes, *words, entry_.lanes.load(DType::I32, place),
        read_row(of_row, rest, row), read_column(of_column, rest, column));
}

Value* TileLeaves::load_row(ValueId id, Component component, int r) {
    Value* point = entry_.b.CreateAdd(
        row_, entry_.lanes.constant(r * entry_.lanes.width()));
    return entry_.lanes.load(
        entry_.writer.packed_dtype(id),
        rows_.address(entry_.lanes, scratch_, id, component, point));
}

Value* TileLeaves::read_row(ValueId id, Component component, int r) {
    const auto found = in_registers_.find({id, component.fixed, r});
    if (!component.runtime && found != in_registers_.end())
        return found->second;
    return load_row(id, component, r);
}

Value* TileLeaves::read_column(ValueId id, Component component, int column) {
    Value* point =
        listed_.empty()
            ? entry_.b.CreateAdd(column_, entry_.lanes.constant(column))
            : listed_[std::size_t(column)];
    if (!sources_.empty())
        return read_in_place(id, component, point);
    return entry_.lanes.broadcast(
        entry_.writer.packed_dtype(id),
        columns_.address(entry_.lanes, scratch_, id, component, point));
}

void TileLeaves::read_in_place() {
    for (ValueId id : entry_.writer.kernel.placement.columns.leaves) {
        const auto field = [&](OperandField which) {
            return entry_.writer.operand_field(
                entry_.b, entry_.call, entry_.writer.graph[id].first, which);
        };
        sources_[id] = {field(OperandField::Base), field(OperandField::Stride),
                        field(OperandField::Component)};
    }
}

Value* TileLeaves::read_in_place(ValueId id, Component component,
                                 Value* column) {
    auto& b = entry_.b;
    const Source& source = sources_.at(id);
    Value* place = b.CreatePtrAdd(
        b.CreatePtrAdd(
            source.base,
            b.CreateMul(source.step, entry_.lanes.constant(component.fixed))),
        b.CreateMul(column, source.stride));
    return entry_.lanes.splat(b.CreateAlignedLoad(
        entry_.lanes.element(entry_.writer.packed_dtype(id)), place,
        llvm::Align(1)));
}

} // namespace tilefold::llvm_backend
