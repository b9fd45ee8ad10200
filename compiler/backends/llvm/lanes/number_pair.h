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
/// The sum of any two numbers, and what it lacks. (Knuth, 1969.)
NumberPair sum_of_any(Lanes& lanes, llvm::Value* x, llvm::Value* y);
/// The product of two numbers, and what it lacks.
NumberPair product_of(Lanes& lanes, llvm::Value* x, llvm::Value* y);
/// The quotient of two pairs, by one division; the low part of the numerator
/// may be null.
NumberPair quotient_of(Lanes& lanes, const NumberPair& numerator,
                       const NumberPair& divisor);
/// The same of F64, whose sum is as exact, but whose high part has 28 digits
/// where an instruction set estimates inverses. The divisor is an ordinary
/// number, and so is its inverse.
NumberPair rough_quotient_of(Lanes& lanes, const NumberPair& numerator,
                             const NumberPair& divisor);

} // namespace tilefold::llvm_backend
