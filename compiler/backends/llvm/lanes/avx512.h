// compiler/backends/llvm/lanes/avx512.h - instructions of AVX-512 for F32 and
// F64, for vectors of any length.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Whether the instruction set has them.
inline bool has_avx512(const Lanes& lanes) {
    return row_of(lanes.isa()).masks;
}

/// Emits the exponent of x as a number: n where |x| is from 2^n to 2^(n+1);
/// -inf of 0, inf of infinity, NaN of NaN.
llvm::Value* exponent_of(const Lanes& lanes, llvm::Value* x);
/// Emits x 2^-n, from 3/4 to 3/2, of a positive x; 1 of 0 and infinity; NaN of
/// a negative number.
llvm::Value* mantissa_of(const Lanes& lanes, llvm::Value* x);
/// Emits the same, from 1 to 2.
llvm::Value* mantissa_from_one(const Lanes& lanes, llvm::Value* x);
/// Emits x 2^⌊n⌋ of a number n, rounded once: infinity or 0 out of range.
llvm::Value* times_power_of_two(const Lanes& lanes, llvm::Value* x,
                                llvm::Value* n);
/// Emits 1/x to 14 digits; 0 where it is below the normal numbers.
llvm::Value* inverse_estimate(const Lanes& lanes, llvm::Value* x);
/// Emits 1/√x to 14 digits; infinity of 0, 0 of infinity.
llvm::Value* inverse_root_estimate(const Lanes& lanes, llvm::Value* x);
/// Emits 1/x to 28 digits: to the last one of F32. Both are ordinary numbers.
llvm::Value* rough_inverse(const Lanes& lanes, llvm::Value* x);
/// Emits whether x is below 0, and finite. Without the instruction, it
/// compares.
llvm::Value* is_negative_number(const Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
