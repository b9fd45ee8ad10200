// compiler/backends/llvm/lanes/exponential_pair.h - sums of e^x and a number,
// in twice the digits of F64.
#pragma once

#include "compiler/backends/llvm/lanes/number_pair.h"

#include <memory>

namespace tilefold::llvm_backend {

class ExponentialPair {
public:
    virtual ~ExponentialPair() = default;
    /// Emits e^x 2^shift with a number added that is -2^shift or not below 0:
    /// within half a unit of e^x 2^shift's last place / 8, and exact to all
    /// digits of the sum's high part where x is small and the number -2^shift.
    virtual NumberPair plus(double constant) = 0;
};

/// Prepares e^x 2^shift; x lies where that has an exponent.
std::unique_ptr<ExponentialPair> exponential_pair(Lanes& lanes, llvm::Value* x,
                                                  int shift);

} // namespace tilefold::llvm_backend
