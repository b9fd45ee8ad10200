// runtime/threads.cpp - a pool of threads for parties of work.
//
// A run needs no more than "this function on k threads at once". The pool is
// Boost.Asio's, not oneTBB, for what a shared scheduler cannot promise.
// Measured with oneTBB 2021.8, 8 threads asked on 2 cores:
//  - in a child, 0 of 7 workers answered as soon as another thread or
//    library of the parent had used the scheduler (tbb::finalize refuses);
//  - finalize before the fork stops every run of other threads, and takes up
//    to 4 ms;
//  - the number of threads is the least that anyone in the process has set.
// Here a fork needs no preparation, and the number asked is the number run.

#include "runtime/threads.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <sched.h>
#include <thread>

namespace tilefold {
namespace {

/// One call of together(); shared by its caller and whoever comes to help,
/// be it too late.
class Party {
public:
    explicit Party(const std::function<void()>& share) : share_(share) {}

    /// A helper's part; nothing once the party is closed.
    void help() {
        {
            std::lock_guard lock(mutex_);
            if (closed_)
                return;
            ++inside_;
        }
        share_();
        std::lock_guard lock(mutex_);
        if (--inside_ == 0)
            left_.notify_all();
    }

    /// Nobody enters any more.
    void close() {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }

    /// Whether all helpers have left within 50 ms. They are at their last
    /// pieces when the caller has none left, and waking it would take longer.
    bool all_left() {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (inside_ > 0 && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        std::unique_lock lock(mutex_);
        return left_.wait_for(lock, std::chrono::milliseconds(50),
                              [this] { return inside_ == 0; });
    }

private:
    static constexpr std::chrono::microseconds patience{100};
    const std::function<void()>& share_;
    std::mutex mutex_;
    std::condition_variable left_;
    std::atomic<int> inside_ = 0; ///< changes under the mutex
    bool closed_ = false;
};

/// Signals sent to the process are for the program's own threads. Faults
/// stay with the thread that caused them.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t blocked;
        sigfillset(&blocked);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
            sigdelset(&blocked, fault);
        pthread_sigmask(SIG_BLOCK, &blocked, &saved_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

private:
    sigset_t saved_;
};

/// To another processor, if the thread is on `processor`. A new thread begins
/// on that of its creator, where Linux 6.18 lets it wait, for 2 to 4 ms, though
/// others are idle.
void leave(int processor) {
    cpu_set_t all;
    if (sched_getcpu() != processor || sched_getaffinity(0, sizeof all, &all))
        return;
    cpu_set_t others = all;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) > 0 && !sched_setaffinity(0, sizeof others, &others))
        sched_setaffinity(0, sizeof all, &all);
}

} // namespace

/// The pool, started at the first need.
struct Crew::Muster {
    std::mutex mutex;
    std::unique_ptr<boost::asio::thread_pool> pool;

    /// Null where the system refuses threads: the caller then works alone.
    boost::asio::thread_pool* started(int threads) {
        std::lock_guard lock(mutex);
        if (!pool) {
            const SignalsBlocked blocked;
            try {
                pool = std::make_unique<boost::asio::thread_pool>(
                    std::size_t(threads));
            } catch (const std::exception&) {
                return nullptr;
            }
            const int here = sched_getcpu();
            for (int k = 0; k < threads; ++k)
                boost::asio::post(*pool, [here] { leave(here); });
            sched_yield(); // to them
        }
        return pool.get();
    }
};

Crew::Crew(int threads)
    : threads_(std::max(threads, 1)), muster_(std::make_unique<Muster>()) {}

Crew::~Crew() = default;

void Crew::start() {
    if (threads_ > 1)
        muster_->started(threads_ - 1);
}

bool Crew::together(int helpers, const std::function<void()>& share,
                    const std::function<void()>& waiting) {
    const Muster* muster = muster_.get();
    const auto party = std::make_shared<Party>(share);
    helpers = std::min(helpers, threads_ - 1);
    if (helpers > 0)
        if (auto* pool = muster_->started(threads_ - 1))
            for (int k = 0; k < helpers; ++k)
                boost::asio::post(*pool, [party] { party->help(); });
    share();
    // Callbacks may fork; in the child the helpers are gone.
    if (muster_.get() != muster)
        return false;
    party->close();
    while (!party->all_left()) {
        waiting();
        if (muster_.get() != muster)
            return false;
    }
    return true;
}

void Crew::renew_in_child() {
    // Its mutex may be locked and its threads no longer exist: destroying it
    // would wait for ever.
    static_cast<void>(muster_.release());
    muster_ = std::make_unique<Muster>();
}

} // namespace tilefold
