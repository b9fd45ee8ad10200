// compiler/backends/llvm/lanes/words.cpp - contractions of narrow numbers, a
// word at a time.

#include "compiler/backends/llvm/lanes/words.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tilefold::llvm_backend {

using ir::Op;
using llvm::Value;

namespace {

Value* bits(const Lanes& lanes, Value* word) {
    return lanes.b.CreateBitCast(word, lanes.type(DType::I32));
}

/// Returns the sums of the products of two 16-bit numbers in each lane.
Value* sums_of_pairs(const Lanes& lanes, Value* row, Value* column) {
    auto& b = lanes.b;
    const auto id = lanes.width() == 8
                        ? llvm::Intrinsic::x86_avx2_pmadd_wd
                        : llvm::Intrinsic::x86_avx512_pmaddw_d_512;
    auto* numbers =
        llvm::FixedVectorType::get(b.getInt16Ty(), unsigned(2 * lanes.width()));
    return b.CreateIntrinsic(
        id, {},
        {b.CreateBitCast(row, numbers), b.CreateBitCast(column, numbers)});
}

} // namespace

WordOffsets offsets_of(const Words& of, bool is_row) {
    if (of.numbers == 2)
        return {0, 0}; // 16 bits hold both dtypes' numbers
    const DType rows = is_row ? of.stored : of.other;
    const DType columns = is_row ? of.other : of.stored;
    return {rows == DType::I8 ? 128 : 0, columns == DType::U8 ? 128 : 0};
}

Value* whole_number(const Lanes& lanes, std::int64_t number) {
    return lanes.splat(lanes.b.getInt32(std::uint32_t(number)));
}

Value* emit_one_index(const Lanes& lanes, const Words& of, bool is_row,
                      const std::function<Value*(Value*)>& word) {
    auto& b = lanes.b;
    llvm::Type* whole = lanes.type(DType::I32);
    Value* sum = lanes.variable(whole);
    Value* squares = lanes.variable(whole);
    for (Value* variable : {sum, squares})
        b.CreateStore(whole_number(lanes, 0), variable);
    const auto add = [&](Value* variable, Value* term) {
        b.CreateStore(b.CreateAdd(b.CreateLoad(whole, variable), term),
                      variable);
    };
    const int rest_of_word = 32 - of.bits();
    lanes.loop(lanes.constant(0), lanes.constant(of.words()), lanes.constant(1),
               [&](Value* k) {
                   Value* all = bits(lanes, word(k));
                   for (int q = 0; q < of.numbers; ++q) {
                       Value* top = b.CreateShl(
                           all,
                           whole_number(lanes, rest_of_word - of.bits() * q));
                       Value* places = whole_number(lanes, rest_of_word);
                       Value* one = is_row && of.numbers == 4
                                        ? b.CreateLShr(top, places)
                                        : b.CreateAShr(top, places);
                       add(sum, one);
                       add(squares, b.CreateMul(one, one));
                   }
               });
    const auto [a, c] = offsets_of(of, is_row);
    const std::int64_t count = of.components;
    std::int64_t of_sum = is_row ? c : -a, of_squares = 0;
    std::int64_t rest = is_row ? 0 : -a * c * count;
    if (of.op == Op::SqDist) {
        of_sum = (is_row ? -2 : 2) * (a + c);
        of_squares = 1;
        rest = (is_row ? a * a : c * c + 2 * a * c) * count;
    }
    const auto times = [&](Value* variable, std::int64_t factor) {
        return b.CreateMul(b.CreateLoad(whole, variable),
                           whole_number(lanes, factor));
    };
    return b.CreateAdd(
        b.CreateAdd(times(sum, of_sum), times(squares, of_squares)),
        whole_number(lanes, rest));
}

Value* start_of_words(const Lanes& lanes, const Words& of) {
    return of.exact() ? whole_number(lanes, 0) : lanes.number(DType::F32, 0);
}

Value* add_words(const Lanes& lanes, const Words& of, Value* sum, Value* row,
                 Value* column) {
    auto& b = lanes.b;
    if (of.exact() && of.numbers == 2)
        return b.CreateAdd(sum, sums_of_pairs(lanes, row, column));
    const auto id = of.exact() ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                               : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
    llvm::Type* narrow =
        of.exact() ? b.getInt8Ty() : llvm::Type::getBFloatTy(b.getContext());
    auto* numbers = llvm::FixedVectorType::get(
        narrow, unsigned(lanes.width() * of.numbers));
    return b.CreateIntrinsic(
        id, {},
        {sum, b.CreateBitCast(row, numbers), b.CreateBitCast(column, numbers)});
}

Value* finish_words(const Lanes& lanes, const Words& of, Value* sum, Value* row,
                    Value* column) {
    if (!of.exact())
        return sum;
    auto& b = lanes.b;
    Value* rest = b.CreateAdd(bits(lanes, row), bits(lanes, column));
    Value* total =
        of.op == Op::Dot
            ? b.CreateAdd(rest, sum)
            : b.CreateSub(rest, b.CreateShl(sum, whole_number(lanes, 1)));
    return b.CreateSIToFP(total, lanes.type(DType::F32));
}

} // namespace tilefold::llvm_backend
