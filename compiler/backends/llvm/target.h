// compiler/backends/llvm/target.h - a finished module to machine code.
#pragma once

#include "compiler/plan.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

namespace tilefold::llvm_backend {

/// Runs the short list of passes on `module`, for `isa`.
void optimise(llvm::Module& module, Isa isa);
/// A relocatable ELF object.
llvm::SmallVector<char, 0> emit_object(llvm::Module& module, Isa isa);
std::string emit_assembly(llvm::Module& module, Isa isa);

} // namespace tilefold::llvm_backend
