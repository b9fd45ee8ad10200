// compiler/backends/llvm/lanes/exponential_pair.h - sums of e^x and a number,
// in twice the digits of F64.
#pragma once

#include "compiler/backends/llvm/lanes/number_pair.h"

#include <memory>

namespace tilefold::llvm_backend {

class ExponentialPair {
public:
    virtual ~ExponentialPair() = default;
    /// Emits e^x 2^shift with a number added that is -2^shift or not below 0.
    /// Of (e^x - 1) 2^shift no digits are lost where x is small.
    virtual NumberPair plus(double constant) = 0;
};

/// Prepares e^x 2^shift; x lies where that has an exponent.
std::unique_ptr<ExponentialPair> exponential_pair(Lanes& lanes, llvm::Value* x,
                                                  int shift);

} // namespace tilefold::llvm_backend
