// runtime/cache/backend.h - the code generator, a library loaded when a kernel
// has to be compiled and not before.
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/backends/cpu/cpu_program.h"
#include "compiler/backends/llvm/factory.h"
#include "runtime/schedule/thread_pool.h"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// libtilefold_llvm, from where backend_paths() says. Once loaded it stays:
/// LLVM cannot be unloaded.
class Backend {
public:
    /// Whether nobody waits any more: asked on any thread. Null: somebody does.
    using IsAbandoned = std::function<bool()>;

    /// Compiles with the help of `pool`. Throws CompilerMissing where the
    /// library cannot be loaded or is of another version, KernelTooLarge,
    /// OutOfMemory, Cancelled where it is abandoned, InternalError for what the
    /// compiler reports.
    Artifact compile(const CompileRequest& request, ThreadPool& pool,
                     const IsAbandoned& is_abandoned = {});
    /// `what`: "llvm" or "asm".
    std::string explain(const CompileRequest& request, const char* what,
                        const IsAbandoned& is_abandoned = {});

private:
    const tilefold_llvm_backend& library();

    std::mutex mutex_;
    const tilefold_llvm_backend* library_ = nullptr;
};

/// Where libtilefold_llvm.so is looked for, in order: what TILEFOLD_LLVM says,
/// else beside the library or program that this code is in, as in a Python
/// package, else where packages for C++ have it.
std::vector<std::string> backend_paths();

} // namespace tilefold
