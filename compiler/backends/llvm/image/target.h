// compiler/backends/llvm/image/target.h - a finished module to machine code.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/backends/llvm/memory/caller.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace tilefold::llvm_backend {

/// Returns what `isa` is to LLVM, for use by one thread.
Owned<llvm::TargetMachine> make_machine(Isa isa);

/// Code is compiled without strength reduction of addresses, which pays in
/// loops over components alone and takes a fifth of the time.
inline constexpr const char* strength_reduction = "Loop Strength Reduction";
/// Code is compiled in the order its instructions have, as loops in stages want
/// it: where registers are few, moving them costs moves and spills.
inline constexpr const char* scheduling = "machine-scheduler";

/// Code generation asks this gate before passes of a context: whether to go on
/// at all, and whether the pass is the one that is left out, which has no
/// switch of its own.
class PassGate final : public llvm::OptPassGate {
public:
    explicit PassGate(const tilefold_caller& caller) : caller_(caller) {}
    void leave_out(const char* pass) { left_out_ = pass; }

    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
        go_on(caller_);
        return pass != left_out_;
    }
    bool isEnabled() const override { return true; }

private:
    const tilefold_caller caller_;
    llvm::StringRef left_out_;
};

/// Runs the short list of passes on `module`, for the `machine` of `isa`.
/// Throws EndsEarly, as do the functions below, by the PassGate of the
/// context.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, Isa isa,
              const tilefold_caller& caller);
/// Returns a relocatable ELF object.
llvm::SmallVector<char, 0> emit_object(llvm::Module& module,
                                       llvm::TargetMachine& machine);
std::string text_of(const llvm::Module& module); ///< as LLVM IR
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace tilefold::llvm_backend
