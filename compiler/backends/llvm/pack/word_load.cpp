// compiler/backends/llvm/pack/word_load.cpp - see word_load.h.

#include "compiler/backends/llvm/pack/word_load.h"

#include "compiler/backends/llvm/lanes/words.h"

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

/// What is done to a vector's numbers on their way into words.
struct Packing {
    const Words& of;
    std::int64_t flip; ///< bits of each number that are turned

    int stored_bits() const { return 8 * int(size_of(of.stored)); }
    std::int64_t stored_bytes() const { // of a word's numbers
        return of.numbers * size_of(of.stored);
    }
    /// Returns the flips of all numbers of a word.
    std::int64_t flips() const {
        std::int64_t all = 0;
        for (std::int64_t q = 0; q < of.numbers; ++q)
            all |= flip << (of.bits() * q);
        return all;
    }
    /// Loads `count` words whose numbers are neighbours.
    Value* neighbours(llvm::IRBuilder<>& b, Value* from, int count) const {
        Value* numbers = load(b, from, [&](llvm::Type* element) {
            return llvm::FixedVectorType::get(element,
                                              unsigned(count * of.numbers));
        });
        return b.CreateBitCast(numbers, llvm::FixedVectorType::get(
                                            b.getInt32Ty(), unsigned(count)));
    }
    /// Loads one number, as one of a word.
    Value* number(llvm::IRBuilder<>& b, Value* from) const {
        return load(b, from, [](llvm::Type* element) { return element; });
    }

private:
    /// Loads what `shaped` makes of the stored numbers' type, as those of a
    /// word.
    Value* load(llvm::IRBuilder<>& b, Value* from, const auto& shaped) const {
        llvm::Type* numbers = shaped(b.getIntNTy(unsigned(of.bits())));
        const bool rounds = of.stored == DType::F32;
        llvm::Type* as_stored =
            rounds ? b.getFloatTy() : b.getIntNTy(unsigned(stored_bits()));
        Value* stored =
            b.CreateAlignedLoad(shaped(as_stored), from, llvm::Align(1));
        if (rounds)
            return b.CreateBitCast(
                b.CreateFPTrunc(
                    stored, shaped(llvm::Type::getBFloatTy(b.getContext()))),
                numbers);
        return of.stored == DType::I8 ? b.CreateSExt(stored, numbers)
                                      : b.CreateZExt(stored, numbers);
    }
};

/// Copies words that are neighbours on both sides, in vectors, flipped.
void copy_words(const Lanes& lanes, const Packing& packing, Value* from,
                Value* to, Value* count) {
    auto& b = lanes.b;
    lanes.loop(
        lanes.constant(0), count, lanes.constant(lanes.width()), [&](Value* k) {
            Value* words = packing.neighbours(
                b, lanes.at(from, k, 0, packing.stored_bytes()), lanes.width());
            b.CreateAlignedStore(
                b.CreateXor(words, whole_number(lanes, packing.flips())),
                lanes.at(to, k, 0, 4), llvm::Align(4));
        });
}

/// Writes the body of word_load.
void write_word_load(ModuleWriter& writer, llvm::IRBuilder<>& b,
                     llvm::Function* function, const Packing& packing) {
    const Words& of = packing.of;
    const Lanes scalar = writer.lanes(b, 1);
    Value* from = function->getArg(0);
    Value* step = function->getArg(1);
    const auto store = [&](Value* word, Value* k) {
        b.CreateStore(word,
                      b.CreatePtrAdd(function->getArg(2),
                                     b.CreateMul(k, function->getArg(3))));
    };
    /// Returns numbers [first, first + count) of the vector, as one word.
    const auto gather = [&](Value* first, std::int64_t count) {
        Value* word = b.getInt32(0);
        for (std::int64_t q = 0; q < count; ++q) {
            Value* place = b.CreatePtrAdd(
                from, b.CreateMul(b.CreateAdd(first, b.getInt64(q)), step));
            Value* one = b.CreateZExt(packing.number(b, place), b.getInt32Ty());
            one = b.CreateXor(one, b.getInt32(packing.flip));
            word = b.CreateOr(word, b.CreateShl(one, of.bits() * q));
        }
        return word;
    };
    const std::int64_t whole = of.components / of.numbers;
    Value* are_neighbours =
        b.CreateICmpEQ(step, b.getInt64(size_of(of.stored)));
    Value* quick =
        b.CreateSelect(are_neighbours, b.getInt64(whole), b.getInt64(0));
    Value* one = b.getInt64(1);
    Value* runs = b.CreateSelect(
        b.CreateICmpEQ(function->getArg(3), b.getInt64(4)),
        b.CreateAnd(quick, b.getInt64(-std::int64_t(writer.plan.lanes))),
        b.getInt64(0));
    copy_words(writer.lanes(b, writer.plan.lanes), packing, from,
               function->getArg(2), runs);
    scalar.loop(runs, quick, one, [&](Value* k) {
        Value* words = packing.neighbours(
            b, scalar.at(from, k, 0, packing.stored_bytes()), 1);
        Value* word = b.CreateBitCast(words, b.getInt32Ty());
        store(b.CreateXor(word, b.getInt32(packing.flips())), k);
    });
    scalar.loop(quick, b.getInt64(whole), one, [&](Value* k) {
        store(gather(b.CreateMul(k, b.getInt64(of.numbers)), of.numbers), k);
    });
    if (of.components % of.numbers)
        store(
            gather(b.getInt64(whole * of.numbers), of.components % of.numbers),
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
                             write_word_load(its, b, function, {of, flip});
                         });
}

} // namespace tilefold::llvm_backend
