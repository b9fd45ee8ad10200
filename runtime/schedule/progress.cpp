// runtime/schedule/progress.cpp - the callback of a long run, and how a run
// ends early.

#include "runtime/schedule/progress.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/float_mode.h"

#include <string>

namespace tilefold {

void Progress::poll_if_due(unsigned callers_mode) {
    if (!poll_ || stopped() || Clock::now() < due_)
        return;
    cpu::FloatMode mode(callers_mode);
    try {
        if (!poll_(done_.load(std::memory_order_relaxed), total_))
            stop(cancelled());
    } catch (...) {
        stop(std::current_exception());
    }
    due_ = Clock::now() + interval;
}

void Progress::stop(std::exception_ptr cause) {
    if (!caught_.exchange(true))
        cause_ = std::move(cause);
    stop_ = true;
}

void Progress::rethrow() const {
    if (cause_)
        std::rethrow_exception(cause_);
}

std::exception_ptr Progress::cancelled() const {
    double share = total_ > 0 ? done_.load() / total_ : 1;
    try {
        fail(Code::Cancelled, {std::to_string(int(100 * share)) + "%"});
    } catch (...) {
        return std::current_exception();
    }
}

bool Watcher::advance(double pairs) const {
    progress.advance(pairs);
    if (polls)
        progress.poll_if_due(callers_mode);
    return !progress.stopped();
}

std::int64_t Watcher::goes_on(void* watcher) {
    auto& self = *static_cast<Watcher*>(watcher);
    if (self.polls)
        self.progress.poll_if_due(self.callers_mode);
    return !self.progress.stopped();
}

} // namespace tilefold
