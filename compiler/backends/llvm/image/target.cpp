// compiler/backends/llvm/image/target.cpp - passes and code generation.
//
// Compile time is code size: 4 to 9 ms a kilobyte (Zen 3). The emitters write
// what they mean, so only passes that pay are run: promotion of accumulators to
// registers, removal of common subexpressions (addresses and broadcasts), and
// hoisting of loop invariants.

#include "compiler/backends/llvm/image/target.h"

#include "compiler/backends/llvm/image/long_blocks.h"
#include "compiler/backends/llvm/memory/caller.h"
#include "compiler/backends/llvm/pipelining/software_pipeline.h"

#include "formulas/diagnostic.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <mutex>

namespace tilefold::llvm_backend {
namespace {

// CMake's TILEFOLD_TARGETS says which there are.

void initialise_aarch64() {
#ifdef TILEFOLD_TARGET_AARCH64
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#endif
}

void initialise_x86() {
#ifdef TILEFOLD_TARGET_X86
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
#endif
}

void initialise_once(const llvm::Triple& triple) {
    static std::once_flag x86, aarch64;
    if (triple.isAArch64())
        std::call_once(aarch64, initialise_aarch64);
    else
        std::call_once(x86, initialise_x86);
}

} // namespace

Owned<llvm::TargetMachine> make_machine(Isa isa) {
    const llvm::Triple triple(row_of(isa).triple);
    initialise_once(triple);
    std::string error;
    const llvm::Target* target =
        llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target)
        throw NoTarget(spelling_of(isa));
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    return Owned<llvm::TargetMachine>(target->createTargetMachine(
        triple, row_of(isa).cpu, row_of(isa).features, options,
        llvm::Reloc::PIC_, llvm::CodeModel::Small,
        llvm::CodeGenOptLevel::Default));
}

namespace {

/// Passes over one function after the other, with analyses that are wired to
/// one another.
class Passes {
public:
    Passes(llvm::TargetMachine& machine, const tilefold_caller& caller) {
        callbacks_.registerBeforeNonSkippedPassCallback(
            [&caller](llvm::StringRef, const llvm::Any&) { go_on(caller); });
        llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(),
                                  std::nullopt, &callbacks_);
        builder.registerModuleAnalyses(modules_);
        builder.registerCGSCCAnalyses(components_);
        builder.registerFunctionAnalyses(functions_);
        builder.registerLoopAnalyses(loops_);
        builder.crossRegisterProxies(loops_, functions_, components_, modules_);
        passes_.addPass(llvm::PromotePass());
        passes_.addPass(llvm::EarlyCSEPass(true));
        passes_.addPass(llvm::createFunctionToLoopPassAdaptor(
            llvm::LICMPass(llvm::LICMOptions()), true));
        passes_.addPass(llvm::DCEPass());
    }

    void run(llvm::Function& function) { passes_.run(function, functions_); }

private:
    llvm::PassInstrumentationCallbacks callbacks_;
    llvm::LoopAnalysisManager loops_;
    llvm::FunctionAnalysisManager functions_;
    llvm::CGSCCAnalysisManager components_;
    llvm::ModuleAnalysisManager modules_;
    llvm::FunctionPassManager passes_;
};

} // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, Isa isa,
              const tilefold_caller& caller) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
    Owned<Passes> passes(new Passes(machine, caller));
    const auto work = [&] {
        for (llvm::Function& function : module)
            if (!function.isDeclaration()) {
                passes->run(function);
                go_on(caller);
                cut_into_stages(function, row_of(isa).registers);
                cut_long_blocks(function);
            }
    };
    unless_early(work, passes);
}

namespace {

llvm::SmallVector<char, 0> emit(llvm::Module& module,
                                llvm::TargetMachine& machine,
                                llvm::CodeGenFileType kind) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    Owned<llvm::legacy::PassManager> passes(new llvm::legacy::PassManager);
    if (machine.addPassesToEmitFile(*passes, stream, nullptr, kind, true))
        internal_error("the target emits no files of this kind");
    unless_early([&] { passes->run(module); }, passes);
    return bytes;
}

} // namespace

llvm::SmallVector<char, 0> emit_object(llvm::Module& module,
                                       llvm::TargetMachine& machine) {
    return emit(module, machine, llvm::CodeGenFileType::ObjectFile);
}

std::string text_of(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
}

std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
    const auto text =
        emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
    return {text.begin(), text.end()};
}

} // namespace tilefold::llvm_backend
