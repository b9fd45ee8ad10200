// compiler/backends/llvm/lanes/words.h - contractions of narrow numbers, a
// 32-bit word at a time.
//
// Four 8-bit or two bf16 neighbours of a vector are one word of a lane, and
// one instruction adds all their products to a sum (AVX512-VNNI, AVX512-BF16);
// or two 8-bit neighbours are, as 16-bit numbers, where one instruction sums up
// their products and another adds these (AVX2, AVX512BW).
// That of four 8-bit numbers takes one operand as unsigned, u, and one as
// signed, s; rows hold u = x + a, columns s = y - c, where a and c are 128 or 0
// as the arrays' dtypes want, of 16-bit numbers always 0:
//   x·y     =  Σ u s + c Σ u - a Σ s - a c D
//   |x-y|²  =  (Σ u² - 2(a+c) Σ u + a² D)
//            + (Σ s² + 2(a+c) Σ s + (c² + 2ac) D) - 2 Σ u s
// What has one index is made while packing, a word behind the vector's. All is
// exact in 32 bits up to 33,025 components, and rounded once.
//
// Products of bf16 are exact in f32; the instruction takes subnormal numbers
// for 0. Distances of bf16 are no such sum: differences would not be exact.
#pragma once

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// a and c of the preface, by the dtypes of rows and columns.
struct WordOffsets {
    std::int64_t a, c;
};
WordOffsets offsets_of(const Words& of, bool is_row);

/// Returns lanes of 32 bits, each of them `number`.
llvm::Value* whole_number(const Lanes& lanes, std::int64_t number);

/// Emits the part that has one index, for lanes of points; `word(k)` gives
/// word k of each.
llvm::Value*
emit_one_index(const Lanes& lanes, const Words& of, bool is_row,
               const std::function<llvm::Value*(llvm::Value*)>& word);

/// Returns the lanes of a sum over words before anything is added; the next
/// function adds the products of one more word. Words are lanes of F32, by
/// their bits.
llvm::Value* start_of_words(const Lanes& lanes, const Words& of);
llvm::Value* add_words(const Lanes& lanes, const Words& of, llvm::Value* sum,
                       llvm::Value* row, llvm::Value* column);
/// Returns the contraction, in F32. `row` and `column` are the parts that have
/// one index.
llvm::Value* finish_words(const Lanes& lanes, const Words& of, llvm::Value* sum,
                          llvm::Value* row, llvm::Value* column);

} // namespace tilefold::llvm_backend
