// compiler/backends/llvm/portions.h - an image from portions that are compiled
// at the same time.
#pragma once

#include "compiler/artifact.h"
#include "compiler/backends/llvm/factory.h"
#include "compiler/backends/llvm/module.h"

namespace tilefold::llvm_backend {

/// A module and what the caller must know to run it. The context outlives the
/// module.
struct Written {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
    Layout layout;
    Borrowed borrowed;
};

Written write(const ir::Graph& graph, const Plan& plan, Portion portion);

/// All but what compiled it, and how long it took.
Artifact make_image(const ir::Graph& graph, const Plan& plan,
                    const tilefold_helpers& helpers);

} // namespace tilefold::llvm_backend
