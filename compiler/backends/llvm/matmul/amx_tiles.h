// compiler/backends/llvm/matmul/amx_tiles.h - products of matrices, a block of
// 16 × 16 sums at a time, on the processor's matrix unit (AMX).
//
// A register of the unit holds 16 rows of 16 words. One instruction adds to
// such a block of sums the products of 16 rows of one matrix with 16 columns of
// another, over up to 16 words of each: 8 or 4 cycles' work of the vector units
// in one. Four blocks of sums are in registers at a time, since two operands
// then serve four products.
//
// Where there is no such unit but AVX512-BF16, products of bf16 are made of its
// instruction for lanes, with 16 vectors of sums in registers.
#pragma once

#include "compiler/backends/cpu/lower/arena.h"
#include "compiler/backends/llvm/lanes/lanes.h"

#include <vector>

namespace tilefold::llvm_backend {

/// What is added to the sums: C[m][n] += Σ_k A[m][k] · B[k][n], where k counts
/// words, for each A and each of its B. Rows of B and C are vectors of lanes;
/// strides are in bytes.
struct TileProduct {
    struct Factors {
        llvm::Value* a;
        std::vector<llvm::Value*> b;
    };
    std::vector<Factors> factors;
    std::int64_t a_stride = 0; ///< from row to row of A, whose words are packed
    std::int64_t b_step = 0;   ///< from step to step of B
    llvm::Value* c = nullptr;
    std::int64_t c_stride = 0; ///< from row to row of C; 0: as of B
    int vectors = 1;           ///< in a row of B and of C
    std::int64_t depth = 16;   ///< words of a step
    llvm::Value* steps = nullptr;
    std::int64_t most_steps = 0;
    /// The rows of A and C; the rows that fill up whole_squares() are read and
    /// written, too.
    llvm::Value* rows = nullptr;
    bool starts = false; ///< C held nothing
    /// Words are of 8-bit numbers, signed in A and unsigned in B; otherwise
    /// they are of bf16.
    bool exact = false;
};

/// Sets the shapes of the unit's registers before any product; a step has
/// `depth` words.
void emit_shapes(const Lanes& lanes, std::int64_t depth);
void emit_product(const Lanes& lanes, const TileProduct& product);
/// Leaves the unit as it was found after all products, so that threads are
/// switched quickly.
void emit_release(const Lanes& lanes);

} // namespace tilefold::llvm_backend
