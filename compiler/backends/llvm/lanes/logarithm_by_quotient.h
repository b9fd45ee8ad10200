// compiler/backends/llvm/lanes/logarithm_by_quotient.h - the logarithm of F64.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits log x of F64, finite and above 0, within 1 ulp. Of another x it is
/// some number.
llvm::Value* logarithm_of_double(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
