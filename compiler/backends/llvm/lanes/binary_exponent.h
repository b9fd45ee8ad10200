// compiler/backends/llvm/lanes/binary_exponent.h - numbers of F32 and F64 as a
// power of two and what is left.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// x = 2^i (1 + m), with 1 + m from sqrt(1/2) to sqrt(2).
struct BinaryExponent {
    llvm::Value* m; ///< exact
    llvm::Value* i; ///< a whole number
};

/// Splits a finite x above 0, subnormal ones too, into numbers of its dtype. Of
/// another x, both are some finite numbers.
BinaryExponent split_exponent(Lanes& lanes, llvm::Value* x);

/// Emits 2^n of a whole number n: from 0, of -127 (F64: -1023), to infinity, of
/// 128 (1024).
llvm::Value* power_of_two(Lanes& lanes, llvm::Value* n);
/// Emits 2^(n + more) of F32 or F64, an ordinary number, of a whole number n in
/// the lowest bits of lanes of I32 or I64, whatever is above them.
llvm::Value* power_of_two_of_bits(Lanes& lanes, llvm::Value* bits,
                                  int more = 0);

/// Emits x 2^(n/2^fraction) of a number n that is the lowest bits of lanes of
/// I32 or I64, but for its last `fraction` bits, which choose x.
llvm::Value* times_fractional_power(Lanes& lanes, llvm::Value* x,
                                    llvm::Value* bits, int fraction);

} // namespace tilefold::llvm_backend
