// compiler/backends/llvm/matmul/bf16_splits.h - inner products of float32
// vectors by blocks, where the plan allows an error: x·y ≈ h(x)·h(y) +
// h(x)·l(y) + l(x)·h(y).
//
// h is the nearest bf16, l that of what is left: 16 bits of a factor together,
// so that the error is some 3e-6 of |x| |y|. Of infinities l is NaN.
// Henry, Tang, Heinecke: Leveraging the bfloat16 artificial intelligence
// datatype for higher-precision computations (2019).
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/llvm/pack/entry.h"

#include <map>

namespace tilefold::llvm_backend {

/// The nearest bf16 of lanes of float32, and its bits.
struct NearestBf16 {
    NearestBf16(const Lanes& lanes, llvm::Value* x);
    llvm::Value *bits, *value;
};
/// Returns the bits of two numbers as one word.
llvm::Value* words_of(const Lanes& lanes, llvm::Value* even, llvm::Value* odd);
/// Writes zeros to vectors [from, to) of words from `place` on.
void clear_words(const Lanes& lanes, llvm::Value* place, std::int64_t from,
                 std::int64_t to);

/// The parts of the factors of a kernel's products, in scratch: of all rows of
/// a block, and of the columns of a panel.
class FactorSplits {
public:
    explicit FactorSplits(const ModuleWriter& writer)
        : writer_(writer), products_(writer.kernel.splits) {}

    bool has(ir::ValueId product) const { return products_.count(product) > 0; }

    void keep_rows(Entry& entry, const Pack& rows, llvm::Value* count,
                   llvm::Value* scratch) const;
    void keep_columns(Entry& entry, const Pack& columns, llvm::Value* count,
                      llvm::Value* scratch) const;
    /// Returns the product for the tile of rows from `row` on and columns from
    /// `first` on.
    TileProduct product(const Entry& entry, ir::ValueId id, llvm::Value* row,
                        llvm::Value* first, llvm::Value* scratch) const;

private:
    void clear_rows(Entry& entry, const SplitProduct& place, llvm::Value* count,
                    llvm::Value* scratch) const;

    const ModuleWriter& writer_;
    const std::map<ir::ValueId, SplitProduct>& products_;
};

} // namespace tilefold::llvm_backend
