// compiler/backends/llvm/lanes/root.h - square roots, and their inverses.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits √x, within 0.5 ulp.
llvm::Value* emit_root(const Lanes& lanes, llvm::Value* x);
/// Emits 1/√x, within 0.51 ulp.
llvm::Value* emit_inverse_root(const Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
