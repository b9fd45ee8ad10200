// compiler/backends/llvm/lanes/gamma_of_double.h - lgamma of F64.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits lgamma(x) of F64 for x >= 0, infinity or NaN.
llvm::Value* lgamma_of_double(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
