// runtime/backend.h - the code generator, a library loaded when a kernel has
// to be compiled and not before.
#pragma once

#include "compiler/artifact.h"
#include "compiler/backends/llvm/factory.h"
#include "compiler/pipeline.h"
#include "runtime/threads.h"

#include <mutex>
#include <string>
#include <string_view>

namespace tilefold {

/// libtilefold_llvm, from beside the library that this code is in. Once
/// loaded it stays: LLVM cannot be unloaded.
class Backend {
public:
    /// With the help of `crew`. Throws CompilerMissing where the library cannot
    /// be loaded or is of another version, InternalError for what the compiler
    /// reports.
    Artifact compile(const CompileRequest& request, Crew& crew);
    /// `what`: "llvm" or "asm".
    std::string explain(const CompileRequest& request, const char* what);

private:
    const tilefold_llvm_backend& library();

    std::mutex mutex_;
    const tilefold_llvm_backend* library_ = nullptr;
};

/// Path of libtilefold_llvm.so.
std::string backend_path();

} // namespace tilefold
