// compiler/backends/llvm/target.h - a finished module to machine code.
#pragma once

#include "compiler/plan.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace tilefold::llvm_backend {

/// What `isa` is to LLVM; for one thread.
std::unique_ptr<llvm::TargetMachine> make_machine(Isa isa);
/// Code of `context` is compiled without strength reduction of addresses, which
/// pays in loops over components alone and takes a fifth of the time.
void without_strength_reduction(llvm::LLVMContext& context);
/// Code of `context` is compiled in the order its instructions have, as loops
/// in stages want it: where registers are few, moving them costs moves and
/// spills.
void without_scheduling(llvm::LLVMContext& context);
/// Runs the short list of passes on `module`, for the `machine` of `isa`.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, Isa isa);
/// A relocatable ELF object.
llvm::SmallVector<char, 0> emit_object(llvm::Module& module,
                                       llvm::TargetMachine& machine);
std::string text_of(const llvm::Module& module); ///< as LLVM IR
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace tilefold::llvm_backend
