// compiler/backends/llvm/lanes/logarithm_by_quotient.h - logarithms of F64.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"
#include "compiler/ir/ir.h"

namespace tilefold::llvm_backend {

/// Emits log, log2 or log10 (`op`) of F64, finite and above 0, within 1 ulp. Of
/// another x it is some number.
llvm::Value* logarithm_of_double(Lanes& lanes, ir::Op op, llvm::Value* x);

} // namespace tilefold::llvm_backend
