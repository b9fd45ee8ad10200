// runtime/schedule/progress.h - how far a run is, and whether it should go on.
#pragma once

#include "runtime/core/callbacks.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace tilefold {

/// Shared by the threads of one run. Workers call advance() after every
/// kernel call; the calling thread also calls poll_if_due(), and asks
/// rethrow() at the end.
class Progress {
public:
    Progress(const Poll& poll, double total)
        : poll_(poll), total_(total), due_(Clock::now() + interval) {}

    /// Counts pairs; false: stop working.
    bool advance(double pairs) {
        done_.fetch_add(pairs, std::memory_order_relaxed);
        return !stopped();
    }
    bool stopped() const { return stop_.load(std::memory_order_relaxed); }

    /// Calling thread only: calls the user's callback every 50 ms, in the
    /// floating-point mode `callers_mode`.
    void poll_if_due(unsigned callers_mode);
    /// Ends the run because of `cause`; the first one is kept.
    void stop(std::exception_ptr cause);
    /// Calls work(); what that throws ends the run.
    template <class Work> void guard(const Work& work) {
        try {
            work();
        } catch (...) {
            stop(std::current_exception());
        }
    }
    /// Throws what ended the run, if anything.
    void rethrow() const;

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{50};

    std::exception_ptr cancelled() const;

    const Poll& poll_;
    double total_;
    Clock::time_point due_;
    std::atomic<double> done_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<bool> caught_ = false;
    std::exception_ptr cause_; ///< read once all workers have left
};

/// Whom a thread of a run tells how far it is, and whom a kernel asks while it
/// prepares: tilefold_kernel_call::watcher.
struct Watcher {
    Progress& progress;
    bool polls; ///< it runs on the calling thread, whose mode follows
    unsigned callers_mode;

    /// Counts pairs, and polls where that is due; false: stop working.
    bool advance(double pairs) const;

    /// tilefold_kernel_call::goes_on. Never throws.
    static std::int64_t goes_on(void* watcher);
};

} // namespace tilefold
