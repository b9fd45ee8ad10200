// compiler/backends/llvm/lanes/gamma_of_double.h - lgamma and digamma of F64.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits lgamma(x) or digamma(x) of F64 for x >= 0, infinity or NaN; digamma is
/// -inf of 0.
llvm::Value* lgamma_of_double(Lanes& lanes, llvm::Value* x);
llvm::Value* digamma_of_double(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
