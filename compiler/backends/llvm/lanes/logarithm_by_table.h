// compiler/backends/llvm/lanes/logarithm_by_table.h - logarithms where an
// instruction set takes numbers apart and chooses from tables of 16.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/passes.h"

namespace tilefold::llvm_backend {

/// Emits the logarithm (`op` is Log, Log2 or Log10) of F32 or F64, special
/// numbers too.
llvm::Value* logarithm_by_table(Lanes& lanes, ir::Op op, llvm::Value* x);
/// Emits log x as a sum: the first part has few bits, and is infinite for 0 and
/// infinity.
NumberPair natural_logarithm_in_parts(Lanes& lanes, llvm::Value* x);
/// Emits log(1 + x), special numbers too; `sign` is that of x.
llvm::Value* log1p_by_table(Lanes& lanes, llvm::Value* x, ir::Sign sign);

} // namespace tilefold::llvm_backend
