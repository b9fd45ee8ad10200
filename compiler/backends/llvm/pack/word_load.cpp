// compiler/backends/llvm/pack/word_load.cpp - see word_load.h.

#include "compiler/backends/llvm/pack/word_load.h"

#include "compiler/backends/llvm/lanes/words.h"

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

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

} // namespace tilefold::llvm_backend
