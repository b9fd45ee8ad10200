// runtime/bind/session_state.h - what the handles of a session share.
#pragma once

#include "compiler/backends/cpu/cpu_program.h"
#include "runtime/bind/parsed_formula.h"
#include "runtime/cache/provider.h"
#include "runtime/core/fork.h"
#include "runtime/core/fork_gate.h"
#include "runtime/core/options.h"
#include "runtime/device/devices.h"
#include "runtime/schedule/thread_pool.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilefold::detail {

/// What calls are computed by: the session's options, or some of a call's own.
struct CallSettings {
    Options options; ///< as resolved
    int number = 0;  ///< in its session: a part of signatures

    CpuOptions cpu_options() const; ///< of what the host computes
};
using SettingsPointer = std::shared_ptr<const CallSettings>;

/// Options, threads, caches and counters of a Session; lives as long as any
/// handle of it.
class SessionState final : public ForkGuarded {
public:
    explicit SessionState(const Options& options);
    ~SessionState();

    std::shared_ptr<ParsedFormula> parsed(std::string_view text);
    /// Settings of calls that set nothing.
    const SettingsPointer& settings() const { return settings_; }
    /// Settings of calls with these options, which differ from the session's in
    /// what is of a call. Throws Error where one is no good.
    SettingsPointer settings_of(const Options& options);
    /// Held for what is kept with formulas.
    std::mutex& of_formulas() { return mutex_; }
    void before_fork() override;
    void after_fork(bool in_child) override;

    const Options options; ///< as resolved
    ThreadPool pool;
    KernelProvider provider;
    Devices devices;
    std::atomic<std::int64_t> runs = 0, tiles_visited = 0, tiles_skipped = 0;
    /// Inside: threads that parse, compile or load. Closed during fork()
    /// (some ten milliseconds at most), so that a child finds neither LLVM's
    /// locks taken nor a kernel that nobody finishes.
    ForkGate making;

private:
    /// Formulas kept parsed; beyond, all are dropped.
    static constexpr std::size_t most_formulas = 1024;
    /// Settings of calls kept; beyond, all are dropped.
    static constexpr std::size_t most_settings = 16;

    SettingsPointer settings_;
    /// Guards formulas_, the settings of calls, every ParsedFormula and every
    /// ExponentKernels.
    std::mutex mutex_;
    std::vector<std::pair<Options, SettingsPointer>> settings_of_calls_;
    int next_settings_ = 1;
    std::unordered_map<std::string, std::shared_ptr<ParsedFormula>> formulas_;
};

class FormulaState {
public:
    std::shared_ptr<SessionState> session;
    std::shared_ptr<ParsedFormula> parsed;
    SettingsPointer settings;
};

} // namespace tilefold::detail
