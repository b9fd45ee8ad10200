// compiler/backends/llvm/words.cpp - contractions of narrow numbers, a word
// at a time.

#include "compiler/backends/llvm/words.h"

#include "compiler/backends/llvm/module.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tilefold::llvm_backend {

using ir::Op;
using llvm::Value;

namespace {

/// a and c of the preface, by the dtypes of rows and columns.
struct Offsets {
    std::int64_t a, c;
};
Offsets offsets_of(const Words& of, bool is_row) {
    const DType rows = is_row ? of.stored : of.other;
    const DType columns = is_row ? of.other : of.stored;
    return {rows == DType::I8 ? 128 : 0, columns == DType::U8 ? 128 : 0};
}

Value* bits(const Lanes& lanes, Value* word) {
    return lanes.b.CreateBitCast(word, lanes.type(DType::I32));
}

Value* whole_number(const Lanes& lanes, std::int64_t number) {
    return lanes.splat(lanes.b.getInt32(std::uint32_t(number)));
}

/// Words that are neighbours on both sides, vectors of them, flipped.
void copy_words(const Lanes& lanes, Value* from, Value* to, Value* count,
                std::int64_t flips) {
    lanes.loop(
        lanes.constant(0), count, lanes.constant(lanes.width()), [&](Value* k) {
            Value* word = lanes.b.CreateAlignedLoad(lanes.type(DType::I32),
                                                    lanes.at(from, k, 0, 4),
                                                    llvm::Align(1));
            lanes.b.CreateAlignedStore(
                lanes.b.CreateXor(word, whole_number(lanes, flips)),
                lanes.at(to, k, 0, 4), llvm::Align(4));
        });
}

/// The body of word_load, which turns bits of `flip` in each number.
void write_word_load(ModuleWriter& writer, llvm::IRBuilder<>& b,
                     llvm::Function* function, const Words& of,
                     std::int64_t flip) {
    const Lanes scalar = writer.lanes(b, 1);
    Value* step = function->getArg(1);
    const std::int64_t numbers = of.numbers();
    const std::int64_t size = 4 / numbers; // bytes of a number
    llvm::Type* number = b.getIntNTy(unsigned(8 * size));
    const auto store = [&](Value* word, Value* k) {
        b.CreateStore(word,
                      b.CreatePtrAdd(function->getArg(2),
                                     b.CreateMul(k, function->getArg(3))));
    };
    /// Numbers [first, first + count) of the vector, as one word.
    const auto gather = [&](Value* first, std::int64_t count) {
        Value* word = b.getInt32(0);
        for (std::int64_t q = 0; q < count; ++q) {
            Value* place = b.CreatePtrAdd(
                function->getArg(0),
                b.CreateMul(b.CreateAdd(first, b.getInt64(q)), step));
            Value* one =
                b.CreateZExt(b.CreateAlignedLoad(number, place, llvm::Align(1)),
                             b.getInt32Ty());
            one = b.CreateXor(one, b.getInt32(flip));
            word = b.CreateOr(word, b.CreateShl(one, 8 * size * q));
        }
        return word;
    };
    const std::int64_t whole = of.components / numbers;
    Value* are_neighbours = b.CreateICmpEQ(step, b.getInt64(size));
    Value* quick =
        b.CreateSelect(are_neighbours, b.getInt64(whole), b.getInt64(0));
    Value* one = b.getInt64(1);
    Value* runs = b.CreateSelect(
        b.CreateICmpEQ(function->getArg(3), b.getInt64(4)),
        b.CreateAnd(quick, b.getInt64(-std::int64_t(writer.plan.lanes))),
        b.getInt64(0));
    copy_words(writer.lanes(b, writer.plan.lanes), function->getArg(0),
               function->getArg(2), runs, flip * 0x01010101);
    scalar.loop(runs, quick, one, [&](Value* k) {
        Value* word = b.CreateAlignedLoad(
            b.getInt32Ty(), scalar.at(function->getArg(0), k, 0, 4),
            llvm::Align(1));
        store(b.CreateXor(word, b.getInt32(flip * 0x01010101)), k);
    });
    scalar.loop(quick, b.getInt64(whole), one, [&](Value* k) {
        store(gather(b.CreateMul(k, b.getInt64(numbers)), numbers), k);
    });
    if (of.components % numbers)
        store(gather(b.getInt64(whole * numbers), of.components % numbers),
              b.getInt64(whole));
    for (std::int64_t k = of.words(); k < of.padded(); ++k)
        store(b.getInt32(0), b.getInt64(std::uint64_t(k)));
}

} // namespace

llvm::Function* word_load(ModuleWriter& writer, const Words& of, bool is_row) {
    const auto [a, c] = offsets_of(of, is_row);
    const std::int64_t flip = of.exact() && (is_row ? a : c) != 0 ? 0x80 : 0;
    const std::string name = "words_" + std::string(spelling_of(of.stored)) +
                             (flip ? "_flipped_" : "_") +
                             std::to_string(of.components);
    return writer.shared(name, "pnpn",
                         [of, flip](auto& its, auto& b, auto* function) {
                             write_word_load(its, b, function, of, flip);
                         });
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
    lanes.loop(lanes.constant(0), lanes.constant(of.words()), lanes.constant(1),
               [&](Value* k) {
                   Value* four = bits(lanes, word(k));
                   for (int q = 0; q < 4; ++q) {
                       Value* top =
                           b.CreateShl(four, whole_number(lanes, 24 - 8 * q));
                       Value* one =
                           is_row ? b.CreateLShr(top, whole_number(lanes, 24))
                                  : b.CreateAShr(top, whole_number(lanes, 24));
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
    const auto id = of.exact() ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                               : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
    llvm::Type* narrow =
        of.exact() ? b.getInt8Ty() : llvm::Type::getBFloatTy(b.getContext());
    auto* numbers = llvm::FixedVectorType::get(
        narrow, unsigned(lanes.width() * of.numbers()));
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
