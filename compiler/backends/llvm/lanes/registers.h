// compiler/backends/llvm/lanes/registers.h - what an instruction set does to
// one register, done to vectors of any length.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

namespace tilefold::llvm_backend {

/// Emits `of_register`, which takes `width` elements, for each register that
/// x fills; for one that has x again and again where x is shorter, or a scalar.
llvm::Value*
by_registers(llvm::IRBuilder<>& b, llvm::Value* x, int width,
             const std::function<llvm::Value*(llvm::Value*)>& of_register);
/// The same of several vectors of one length.
llvm::Value* by_registers(
    llvm::IRBuilder<>& b, const std::vector<llvm::Value*>& operands, int width,
    const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>&
        of_registers);

} // namespace tilefold::llvm_backend
