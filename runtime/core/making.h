// runtime/core/making.h - what one thread makes and any number wait for.
//
//  1. Whoever waits may leave; when the last one has left, what is being made
//     is abandoned: nobody joins any more, and the maker may stop.
//  2. After fork() the child has the makings that were done, if threads that
//     make are inside a ForkGate. Waiting uses nothing that another thread's
//     waiting could have left behind there (a condition variable would).
#pragma once

#include "formulas/diagnostic.h"
#include "runtime/core/callbacks.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <utility>

namespace tilefold {

/// Shared by its maker and those who wait.
template <class Made> class Making {
public:
    // The maker's:

    void set(Made made) { promise_.set_value(std::move(made)); }
    void set_error(std::exception_ptr error) {
        promise_.set_exception(std::move(error));
    }
    bool is_abandoned() const { return waiting_ == nobody_again; }

    // Threads that wait call what follows.

    /// False where it is abandoned.
    bool join() {
        int waiting = waiting_;
        while (waiting != nobody_again)
            if (waiting_.compare_exchange_weak(waiting, waiting + 1))
                return true;
        return false;
    }
    /// What was made, or its error; after join(). Throws Error(Cancelled) where
    /// `goes_on` says so.
    Made wait(const GoesOn& goes_on) {
        Leaving leaving(*this);
        while (goes_on &&
               future_.wait_for(interval) != std::future_status::ready)
            if (!goes_on())
                fail(Code::Cancelled, {"a part"});
        leaving.is_done = true;
        return future_.get();
    }

private:
    static constexpr std::chrono::milliseconds interval{50};
    static constexpr int nobody_again = -1;

    struct Leaving {
        explicit Leaving(Making& making) : making(making) {}
        ~Leaving() { making.leave(is_done); }
        Making& making;
        bool is_done = false;
    };

    void leave(bool is_done) {
        int waiting = waiting_;
        while (!waiting_.compare_exchange_weak(
            waiting, waiting == 1 && !is_done ? nobody_again : waiting - 1))
            ;
    }

    std::promise<Made> promise_;
    const std::shared_future<Made> future_ = promise_.get_future().share();
    std::atomic<int> waiting_ = 0;
};

} // namespace tilefold
