// compiler/backends/llvm/matmul/parts.h - inner products of float32 vectors by
// blocks, where the plan allows an error: x·y ≈ h(x)·h(y) + h(x)·l(y) +
// l(x)·h(y).
//
// h is the nearest bf16, l that of what is left: 16 bits of a factor together,
// so that the error is some 3e-6 of |x| |y|. Of infinities l is NaN.
// Henry, Tang, Heinecke: Leveraging the bfloat16 artificial intelligence
// datatype for higher-precision computations (2019).
#pragma once

#include "compiler/backends/llvm/matmul/blocks.h"
#include "compiler/backends/llvm/pack/entry.h"

#include <map>

namespace tilefold::llvm_backend {

/// number, rounded up to a multiple.
constexpr std::int64_t up_to(std::int64_t number, std::int64_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

/// bf16 in a word of 32 bits.
inline constexpr std::int64_t numbers_of_word = 2;

/// Of lanes of float32, and its bits.
struct NearestBf16 {
    NearestBf16(const Lanes& lanes, llvm::Value* x);
    llvm::Value *bits, *value;
};
/// Bits of two numbers as words.
llvm::Value* words_of(const Lanes& lanes, llvm::Value* even, llvm::Value* odd);

/// The parts of the factors of a kernel's products, in scratch: of all rows of
/// a block, and of the columns of a panel.
class FactorParts {
public:
    FactorParts(const ModuleWriter& writer, std::int64_t offset);

    bool any() const { return !places_.empty(); }
    bool has(ir::ValueId product) const { return places_.count(product) > 0; }
    std::int64_t end() const { return end_; } ///< offset after them

    void keep_rows(Entry& entry, const Pack& rows, llvm::Value* count,
                   llvm::Value* scratch) const;
    void keep_columns(Entry& entry, const Pack& columns, llvm::Value* count,
                      llvm::Value* scratch) const;
    /// For the tile of rows from `row` on and columns from `first` on.
    BlockProduct product(const Entry& entry, ir::ValueId id, llvm::Value* row,
                         llvm::Value* first, llvm::Value* scratch) const;

private:
    struct Place {
        ir::ValueId row, column;
        std::int64_t components, words; ///< words with zeros for whole blocks
        std::int64_t rows, columns;     ///< offsets
    };
    void clear_rows(Entry& entry, const Place& place, llvm::Value* count,
                    llvm::Value* scratch) const;
    /// From tile to tile of rows, and from part to part of one.
    std::int64_t tile_bytes(const Place& place) const;
    std::int64_t column_part_bytes(const Place& place) const;

    const ModuleWriter& writer_;
    std::map<ir::ValueId, Place> places_;
    std::int64_t end_;
};

} // namespace tilefold::llvm_backend
