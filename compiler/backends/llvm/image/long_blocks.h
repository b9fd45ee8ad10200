// compiler/backends/llvm/image/long_blocks.h - blocks of bounded length.
#pragma once

#include <llvm/IR/Function.h>

namespace tilefold::llvm_backend {

/// Cuts blocks of more instructions than code generation takes in good time,
/// which grows with their square.
void cut_long_blocks(llvm::Function& function);

} // namespace tilefold::llvm_backend
