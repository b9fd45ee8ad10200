// runtime/provider.h - from a program to a kernel that can be called: found
// in memory, else on disk, else compiled.
#pragma once

#include "runtime/backend.h"
#include "runtime/cache.h"
#include "runtime/disk_cache.h"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace tilefold {

/// Thread-safe. Callers are inside the session's gate.
class KernelProvider {
public:
    /// `options` as resolved; the `crew` helps to compile.
    KernelProvider(const Options& options, Crew& crew);

    /// `formula` names the program in the log. Throws Error.
    KernelPointer kernel(const Program& program, std::string_view formula);
    /// What keep_fastest_plan() was told of a program, in this process or, on
    /// a processor like this one, in another.
    std::optional<Plan> fastest_plan(const Key& program);
    /// `gain`: over the plan it had, for the log.
    void keep_fastest_plan(const Key& program, const Plan& plan,
                           std::string_view formula, double gain);
    /// The backend's view of a program: `what` is "llvm" or "asm".
    std::string explain(const CompileRequest& request, const char* what);
    /// Everything but `runs`.
    Statistics statistics() const;

    /// For fork(): nothing changes in between.
    void lock() { memory_.lock(); }
    void unlock() { memory_.unlock(); }

private:
    KernelPointer load_or_compile(const Program& program,
                                  std::string_view formula);
    Artifact compile(const Program& program, std::string_view formula,
                     DiskMiss miss);
    void log(std::string_view formula, double milliseconds,
             DiskMiss miss) const;

    Crew& crew_;
    bool log_;
    bool perf_map_;
    KernelCache<LoadedKernel> memory_;
    DiskCache disk_;
    Backend backend_;
    std::atomic<std::int64_t> compiles_ = 0;
    std::atomic<std::int64_t> memory_hits_ = 0;
    std::atomic<std::int64_t> disk_hits_ = 0;
    std::atomic<double> compile_milliseconds_ = 0;
};

} // namespace tilefold
