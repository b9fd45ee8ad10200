// compiler/backends/llvm/matmul/value_matmul.h - Σ_j w_j v_j of weights of
// pairs and bf16 vectors of columns, by blocks.
//
// A weight is cut into parts of bf16: its leading 8 bits, the next and the
// rest, whose sum it is, so that all products are exact and sums are as precise
// as in f32; or, where the plan allows an error, into two or one, the last of
// which is rounded. Weights are at most 1, or NaN: what becomes subnormal on
// the way, and is taken for 0, is too small to matter. The lesser parts may be
// 0, and then must not meet an infinity: a panel with one is left to the lanes.
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"

#include <functional>

namespace tilefold::llvm_backend {

/// Memory of a panel of columns and of a tile of them, and what it holds.
struct ValueMatmul {
    const Lanes& lanes;
    int vectors = 1;                   ///< of rows in a tile
    int weight_parts = 3;              ///< of a weight
    std::int64_t capacity = 0;         ///< columns of a panel, a multiple of 32
    std::int64_t column_tile = 0;      ///< most columns of one sum
    llvm::Value* width = nullptr;      ///< components of a value
    llvm::Value* values = nullptr;     ///< component by component
    llvm::Value* are_finite = nullptr; ///< address of a bool: of all values
    llvm::Value* parts = nullptr;      ///< of weights, from the tile's first on

    std::int64_t value_bytes() const { return 2 * capacity; } ///< a component

    /// Sets values of `count` columns, zeros up to a block's end. `row(j)`:
    /// address of column j's components, f32 and one after the other, readable
    /// up to a cache line's end.
    void transpose(const std::function<llvm::Value*(llvm::Value*)>& row,
                   llvm::Value* count) const;
    /// Sets weights of row vector r and columns j and j + 1, j even.
    void keep(llvm::Value* even, llvm::Value* odd, llvm::Value* j, int r) const;
    llvm::Value* weight(llvm::Value* j, int r) const;
    /// Adds Σ_j weight(j, r) values[k][first + j] over `count` columns to
    /// sums[k][r].
    void add(llvm::Value* first, llvm::Value* count, llvm::Value* sums) const;

private:
    llvm::Value* part_of(llvm::Value* j, int r, int part) const;
    std::int64_t part_bytes() const;
};

} // namespace tilefold::llvm_backend
