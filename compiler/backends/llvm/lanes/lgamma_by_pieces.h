// compiler/backends/llvm/lanes/lgamma_by_pieces.h - lgamma where a register
// holds tables of 16.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits lgamma of lanes of F32 from 0 on, infinity and NaN included.
llvm::Value* lgamma_by_pieces(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
