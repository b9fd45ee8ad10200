// compiler/backends/llvm/lanes/number_pair.h - numbers of twice the digits.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// A number as the sum of two, the second of which is small.
struct NumberPair {
    llvm::Value *high, *low;
};

/// The sum of two numbers, of which the first is 0 or the larger one, and what
/// it lacks. (Dekker, 1971.)
NumberPair sum_of(Lanes& lanes, llvm::Value* larger, llvm::Value* smaller);
/// The product of two numbers, and what it lacks.
NumberPair product_of(Lanes& lanes, llvm::Value* x, llvm::Value* y);
/// The quotient of two pairs, by one division; the low part of the numerator
/// may be null.
NumberPair quotient_of(Lanes& lanes, const NumberPair& numerator,
                       const NumberPair& divisor);

} // namespace tilefold::llvm_backend
