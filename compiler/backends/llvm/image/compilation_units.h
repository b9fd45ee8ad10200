// compiler/backends/llvm/image/compilation_units.h - an image from units
// that are compiled at the same time.
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/backends/llvm/image/target.h"
#include "compiler/backends/llvm/memory/caller.h"
#include "compiler/backends/llvm/module/module.h"

#include <memory>

namespace tilefold::llvm_backend {

/// A module and what the caller must know to run it. Each outlives what
/// follows it.
struct Written {
    std::unique_ptr<PassGate> gate;
    Owned<llvm::LLVMContext> context;
    Owned<llvm::Module> module;
    Layout layout;
    Borrowed borrowed;
};

/// Writes the functions of `unit` into a module. Throws TooLarge.
Written write(const ir::Graph& graph, const Plan& plan,
              const LoweredKernel& kernel, CompilationUnit unit,
              const tilefold_caller& caller);

/// Makes all of an artifact but the name of what compiled it and the time it
/// took. Throws EndsEarly.
Artifact make_image(const ir::Graph& graph, const Plan& plan,
                    const tilefold_caller& caller);

} // namespace tilefold::llvm_backend
