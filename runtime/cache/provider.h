// runtime/cache/provider.h - from a program to a kernel that can be called:
// found in memory, else on disk, else compiled.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "runtime/cache/backend.h"
#include "runtime/cache/cache.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/core/fork_gate.h"
#include "runtime/core/making.h"
#include "runtime/core/options.h"
#include "runtime/core/statistics.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tilefold {

/// Who asks for something that may have to be compiled: inside the gate of its
/// session, which it leaves while it waits. Where it may stop waiting, a thread
/// of its own compiles, which goes on as long as somebody waits, be it another.
struct Asker {
    std::shared_ptr<void> session; ///< what the provider is part of
    ForkGate& gate;
    const GoesOn& goes_on; ///< null: it waits, and compiles by itself
};

/// Thread-safe.
class KernelProvider {
public:
    /// `options` as resolved; the `pool` helps to compile.
    KernelProvider(const Options& options, ThreadPool& pool);

    /// `formula` names the program in the log. Throws Error.
    KernelPointer kernel(const CpuProgram& program, std::string_view formula,
                         const Asker& asker);
    /// What keep_fastest_plan() was told of a program, in this process or, on
    /// a processor like this one, in another.
    std::optional<Plan> fastest_plan(const Key& program);
    /// `gain`: over the plan it had, for the log.
    void keep_fastest_plan(const Key& program, const Plan& plan,
                           std::string_view formula, double gain);
    /// The backend's view of a program: `what` is "llvm" or "asm".
    std::string explain(const CompileRequest& request, const char* what,
                        const Asker& asker);
    /// Everything but `runs`.
    Statistics statistics() const;

    /// A fork() lies between these two, so that nothing changes meanwhile.
    void lock() { memory_.lock(); }
    void unlock() { memory_.unlock(); }

private:
    void see_to(const CpuProgram& program, std::string_view formula,
                const Asker& asker,
                const std::shared_ptr<Making<KernelPointer>>& making);
    /// Null where it has to be compiled.
    KernelPointer from_disk(const CpuProgram& program, DiskMiss& miss);
    KernelPointer loaded(const CpuProgram& program, Artifact artifact) const;
    Artifact compile_in_time(const CompileRequest& request,
                             const Backend::IsAbandoned& is_abandoned);
    Artifact compile(const CpuProgram& program, std::string_view formula,
                     DiskMiss miss, const Backend::IsAbandoned& is_abandoned);
    void log(std::string_view formula, double milliseconds,
             DiskMiss miss) const;

    ThreadPool& pool_;
    bool untrusted_;
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
