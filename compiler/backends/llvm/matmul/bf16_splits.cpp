// compiler/backends/llvm/matmul/bf16_splits.cpp - factors in parts of bf16.

#include "compiler/backends/llvm/matmul/bf16_splits.h"

#include <array>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Returns the bits of h and l, of lanes.
std::array<Value*, splits_of_factor> parts_of(const Lanes& lanes, Value* x) {
    std::array<Value*, splits_of_factor> all{};
    for (Value*& part : all) {
        const NearestBf16 nearest(lanes, x);
        x = lanes.b.CreateFSub(x, nearest.value);
        part = nearest.bits;
    }
    return all;
}

} // namespace

NearestBf16::NearestBf16(const Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto count = unsigned(lanes.width());
    auto* halves = llvm::FixedVectorType::get(
        llvm::Type::getBFloatTy(b.getContext()), count);
    Value* nearest = b.CreateFPTrunc(x, halves);
    bits = b.CreateBitCast(nearest,
                           llvm::FixedVectorType::get(b.getInt16Ty(), count));
    value = b.CreateFPExt(nearest, lanes.type(DType::F32));
}

Value* words_of(const Lanes& lanes, Value* even, Value* odd) {
    auto& b = lanes.b;
    llvm::Type* words = lanes.type(DType::I32);
    Value* upper = b.CreateShl(b.CreateZExt(odd, words), 16);
    return b.CreateOr(upper, b.CreateZExt(even, words));
}

void clear_words(const Lanes& lanes, Value* place, std::int64_t from,
                 std::int64_t to) {
    Value* zero = llvm::Constant::getNullValue(lanes.type(DType::I32));
    lanes.loop(lanes.constant(from), lanes.constant(to), lanes.constant(1),
               [&](Value* vector) {
                   lanes.store(
                       zero, lanes.at(place, vector, 0, vector_bytes_of_bf16));
               });
}

/// Words of all rows of a tile lie side by side.
void FactorSplits::keep_rows(Entry& entry, const Pack& rows, Value* count,
                             Value* scratch) const {
    auto& b = entry.b;
    const Lanes& lanes = entry.lanes;
    const std::int64_t vectors = writer_.plan.row_vectors;
    const std::int64_t tile = vectors * lanes.width();
    for (const auto& [id, place] : products_) {
        const auto read = [&, row = place.row](Component k, Value* point) {
            return lanes.load(DType::F32,
                              rows.address(lanes, scratch, row, k, point));
        };
        Value* zero = llvm::Constant::getNullValue(lanes.type(DType::F32));
        const auto keep = [&](Value* point, Value* word, bool lacks_odd) {
            Value* first = b.CreateMul(word, lanes.constant(numbers_of_word));
            Value* to = lanes.at(lanes.byte_offset(scratch, place.rows),
                                 b.CreateUDiv(point, lanes.constant(tile)), 0,
                                 place.row_tile_bytes);
            for (int r = 0; r < vectors; ++r) {
                Value* at =
                    b.CreateAdd(point, lanes.constant(r * lanes.width()));
                const auto even = parts_of(lanes, read({0, first}, at));
                const auto odd =
                    parts_of(lanes, lacks_odd ? zero : read({1, first}, at));
                for (int part = 0; part < splits_of_factor; ++part)
                    lanes.store(words_of(lanes, even[std::size_t(part)],
                                         odd[std::size_t(part)]),
                                lanes.at(lanes.byte_offset(
                                             to, r * vector_bytes_of_bf16),
                                         word, part * place.words,
                                         vectors * vector_bytes_of_bf16));
            }
        };
        const std::int64_t whole = place.components / numbers_of_word;
        lanes.loop(
            lanes.constant(0), count, lanes.constant(tile), [&](Value* point) {
                lanes.loop(lanes.constant(0), lanes.constant(whole),
                           lanes.constant(1),
                           [&](Value* word) { keep(point, word, false); });
                if (place.components % numbers_of_word)
                    keep(point, lanes.constant(whole), true);
            });
        clear_rows(entry, place, count, scratch);
    }
}

/// Writes zeros behind the words of every tile.
void FactorSplits::clear_rows(Entry& entry, const SplitProduct& place,
                              Value* count, Value* scratch) const {
    auto& b = entry.b;
    const Lanes& lanes = entry.lanes;
    const std::int64_t vectors = writer_.plan.row_vectors;
    const std::int64_t used =
        round_up(place.components, numbers_of_word) / numbers_of_word;
    Value* tile = lanes.constant(vectors * lanes.width());
    lanes.loop(lanes.constant(0), count, tile, [&](Value* point) {
        Value* to =
            lanes.at(lanes.byte_offset(scratch, place.rows),
                     b.CreateUDiv(point, tile), 0, place.row_tile_bytes);
        for (int part = 0; part < splits_of_factor; ++part)
            clear_words(lanes, to, (part * place.words + used) * vectors,
                        (part + 1) * place.words * vectors);
    });
}

/// Words of a column are neighbours.
void FactorSplits::keep_columns(Entry& entry, const Pack& columns, Value* count,
                                Value* scratch) const {
    auto& b = entry.b;
    const Lanes& lanes = entry.lanes;
    Value* step = lanes.constant(lanes.width());
    for (const auto& [id, place] : products_) {
        const auto keep = [&, place = place](Value* point, Value* k, Value* x) {
            const auto all = parts_of(lanes, x);
            Value* to = lanes.at(lanes.byte_offset(scratch, place.columns),
                                 point, 0, place.words * 4);
            to = lanes.at(to, k, 0, 2);
            for (int part = 0; part < splits_of_factor; ++part)
                b.CreateAlignedStore(
                    all[std::size_t(part)],
                    lanes.byte_offset(to, part * place.column_split_bytes),
                    llvm::Align(vector_bytes_of_bf16 / 2));
        };
        Value* zero = llvm::Constant::getNullValue(lanes.type(DType::F32));
        Value* components = lanes.constant(place.components);
        const std::int64_t read = round_up(place.components, lanes.width());
        lanes.loop(
            lanes.constant(0), count, lanes.constant(1), [&](Value* point) {
                lanes.loop(lanes.constant(0), lanes.constant(read), step,
                           [&](Value* k) {
                               Value* x = lanes.load(
                                   DType::F32,
                                   columns.address(lanes, scratch, place.column,
                                                   {0, k}, point));
                               Value* mask = lanes.first_lanes(
                                   b.CreateSub(components, k));
                               keep(point, k, lanes.select(mask, x, zero));
                           });
                lanes.loop(lanes.constant(read),
                           lanes.constant(place.words * numbers_of_word), step,
                           [&](Value* k) { keep(point, k, zero); });
            });
    }
}

TileProduct FactorSplits::product(const Entry& entry, ValueId id, Value* row,
                                  Value* first, Value* scratch) const {
    const Lanes& lanes = entry.lanes;
    const SplitProduct& place = products_.at(id);
    const std::int64_t vectors = writer_.plan.row_vectors;
    Value* of_rows = lanes.at(
        lanes.byte_offset(scratch, place.rows),
        entry.lanes.b.CreateUDiv(row, lanes.constant(vectors * lanes.width())),
        0, place.row_tile_bytes);
    Value* of_columns = lanes.at(lanes.byte_offset(scratch, place.columns),
                                 first, 0, place.words * 4);
    Value* lesser_rows =
        lanes.byte_offset(of_rows, place.row_tile_bytes / splits_of_factor);
    Value* lesser_columns =
        lanes.byte_offset(of_columns, place.column_split_bytes);
    TileProduct product;
    product.factors = {{of_columns, {of_rows, lesser_rows}},
                       {lesser_columns, {of_rows}}};
    product.a_stride = place.words * 4;
    product.b_step = most_block_depth * vectors * vector_bytes_of_bf16;
    product.depth = most_block_depth;
    product.most_steps = place.words / most_block_depth;
    product.steps = lanes.constant(product.most_steps);
    return product;
}

} // namespace tilefold::llvm_backend
