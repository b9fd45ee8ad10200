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

} // namespace tilefold::llvm_backend
