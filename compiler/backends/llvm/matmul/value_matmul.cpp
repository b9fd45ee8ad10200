// compiler/backends/llvm/matmul/value_matmul.cpp - weighted sums by blocks.

#include "compiler/backends/llvm/matmul/value_matmul.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <vector>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

constexpr int transposed_side =
    16; ///< lanes, and points and components that change place
constexpr std::int64_t bytes_of_vector = 64;

Value* up_to_block(const Lanes& lanes, Value* columns) {
    return lanes.b.CreateAnd(
        lanes.b.CreateAdd(columns, lanes.constant(2 * transposed_side - 1)),
        lanes.constant(-2 * transposed_side));
}

Value* whole_bits(const Lanes& lanes, std::uint32_t bits) {
    return lanes.splat(lanes.b.getInt32(bits));
}

Value* as_bits(const Lanes& lanes, Value* x) {
    return lanes.b.CreateBitCast(x, lanes.type(DType::I32));
}

/// The number whose bf16 is the upper half of x.
Value* leading(const Lanes& lanes, Value* x) {
    return lanes.b.CreateBitCast(
        lanes.b.CreateAnd(as_bits(lanes, x), whole_bits(lanes, 0xffff0000U)),
        lanes.type(DType::F32));
}

/// Returns words of the nearest bf16 of both, `even` below.
Value* rounded_words(const Lanes& lanes, Value* even, Value* odd) {
    auto& b = lanes.b;
    Value* halves = b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {odd, even});
    std::vector<int> pairs;
    for (int lane = 0; lane < transposed_side; ++lane)
        pairs.insert(pairs.end(), {lane, transposed_side + lane});
    return b.CreateBitCast(b.CreateShuffleVector(halves, pairs),
                           lanes.type(DType::I32));
}

/// Stores the upper halves of lanes.
void store_halves(const Lanes& lanes, Value* bits, Value* place) {
    auto& b = lanes.b;
    auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), transposed_side);
    b.CreateAlignedStore(
        b.CreateTrunc(b.CreateLShr(bits, whole_bits(lanes, 16)), halves), place,
        llvm::Align(bytes_of_vector / 2));
}

/// Whether the exponents of bits are below the largest one.
Value* are_numbers(const Lanes& lanes, Value* bits) {
    Value* exponent = whole_bits(lanes, 0x7f800000U);
    return lanes.b.CreateICmpNE(lanes.b.CreateAnd(bits, exponent), exponent);
}

} // namespace

void ValueMatmul::transpose(const std::function<Value*(Value*)>& row,
                            Value* count) const {
    auto& b = lanes.b;
    Value* zero = lanes.constant(0);
    Value* step = lanes.constant(transposed_side);
    llvm::Type* truth = lanes.type(DType::Bool);
    Value* finite = lanes.variable(truth);
    b.CreateStore(llvm::Constant::getAllOnesValue(truth), finite);
    lanes.loop(zero, up_to_block(lanes, count), step, [&](Value* j) {
        lanes.loop(zero, width, step, [&](Value* k) {
            std::vector<Value*> square(transposed_side);
            Value* all = b.CreateLoad(truth, finite);
            // What lies behind the last component may be anything.
            Value* is_component = lanes.first_lanes(b.CreateSub(width, k));
            for (int n = 0; n < transposed_side; ++n) {
                Value* point = b.CreateAdd(j, lanes.constant(n));
                Value* loaded = lanes.load(
                    DType::F32, lanes.at(row(point), k, 0, sizeof(float)));
                Value*& bits = square[std::size_t(n)];
                Value* is_point = lanes.splat(b.CreateICmpSLT(point, count));
                bits = b.CreateSelect(b.CreateAnd(is_point, is_component),
                                      as_bits(lanes, loaded),
                                      whole_bits(lanes, 0));
                all = b.CreateAnd(all, are_numbers(lanes, bits));
            }
            b.CreateStore(all, finite);
            lanes.transpose(square);
            for (int n = 0; n < transposed_side; ++n)
                store_halves(
                    lanes, square[std::size_t(n)],
                    lanes.at(lanes.at(values, k, n, value_bytes()), j, 0, 2));
        });
    });
    b.CreateStore(lanes.all(b.CreateLoad(truth, finite)), are_finite);
}

/// Returns the bytes of one part of the weights of 32 columns: words of pairs
/// of columns, of all rows.
std::int64_t ValueMatmul::part_bytes() const {
    return transposed_side * vectors * bytes_of_vector;
}

/// Parts lie block by block of 32 columns, in each part by part.
Value* ValueMatmul::part_of(Value* j, int r, int part) const {
    auto& b = lanes.b;
    Value* block = b.CreateLShr(j, lanes.constant(5));
    Value* pair = b.CreateAnd(b.CreateLShr(j, lanes.constant(1)),
                              lanes.constant(transposed_side - 1));
    Value* place = lanes.at(lanes.at(parts, block, part, part_bytes()), pair, 0,
                            vectors * bytes_of_vector);
    place = lanes.at(place, block, 0, (weight_parts - 1) * part_bytes());
    return lanes.byte_offset(place, r * bytes_of_vector);
}

void ValueMatmul::keep(Value* even, Value* odd, Value* j, int r) const {
    auto& b = lanes.b;
    for (int part = 0; part + 1 < weight_parts; ++part) {
        Value* upper = leading(lanes, odd);
        Value* lower =
            b.CreateLShr(as_bits(lanes, even), whole_bits(lanes, 16));
        lanes.store(b.CreateOr(as_bits(lanes, upper), lower),
                    part_of(j, r, part));
        even = b.CreateFSub(even, leading(lanes, even));
        odd = b.CreateFSub(odd, upper);
    }
    lanes.store(rounded_words(lanes, even, odd),
                part_of(j, r, weight_parts - 1));
}

Value* ValueMatmul::weight(Value* j, int r) const {
    auto& b = lanes.b;
    Value* is_odd = b.CreateTrunc(j, b.getInt1Ty());
    Value* shift =
        lanes.splat(b.CreateSelect(is_odd, b.getInt32(0), b.getInt32(16)));
    Value* sum = nullptr;
    for (int part = weight_parts; part-- > 0;) {
        Value* word =
            b.CreateShl(lanes.load(DType::I32, part_of(j, r, part)), shift);
        Value* one =
            leading(lanes, b.CreateBitCast(word, lanes.type(DType::F32)));
        sum = sum ? b.CreateFAdd(sum, one) : one;
    }
    return sum;
}

void ValueMatmul::add(Value* first, Value* count, Value* sums) const {
    auto& b = lanes.b;
    Value* whole = up_to_block(lanes, count);
    Value* next =
        b.CreateAnd(b.CreateAdd(count, lanes.constant(1)), lanes.constant(-2));
    Value* nothing = lanes.number(DType::F32, 0);
    lanes.loop(next, whole, lanes.constant(2), [&](Value* j) {
        for (int r = 0; r < vectors; ++r)
            keep(nothing, nothing, j, r);
    });
    TileProduct product;
    std::vector<Value*> all_parts;
    for (int part = 0; part < weight_parts; ++part)
        all_parts.push_back(lanes.byte_offset(parts, part * part_bytes()));
    product.factors = {{lanes.at(values, first, 0, 2), all_parts}};
    product.a_stride = value_bytes();
    product.b_step = weight_parts * part_bytes();
    product.c = sums;
    product.vectors = vectors;
    product.steps = b.CreateLShr(whole, lanes.constant(5));
    product.most_steps = column_tile / (2 * transposed_side) + 1;
    product.rows = width;
    emit_product(lanes, product);
}

} // namespace tilefold::llvm_backend
