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

#include "runtime/options.h"

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
#include <vector>

namespace tilefold {
namespace {

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

/// One call of together(); shared by its caller and whoever comes to help,
/// be it too late.
class Party {
public:
    explicit Party(const std::function<void()>& share) : share_(share) {}

    /// A helper's part, not on the caller's processor, where it would wait for
    /// the caller; nothing once the party is closed.
    void help() {
        leave(processor_);
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
            __builtin_ia32_pause();
        std::unique_lock lock(mutex_);
        return left_.wait_for(lock, std::chrono::milliseconds(50),
                              [this] { return inside_ == 0; });
    }

private:
    static constexpr std::chrono::microseconds patience{100};
    const std::function<void()>& share_;
    const int processor_ = sched_getcpu();
    std::mutex mutex_;
    std::condition_variable left_;
    std::atomic<int> inside_ = 0; ///< changes under the mutex
    bool closed_ = false;
};

/// Where helpers look for the next party before they sleep: the next call often
/// follows soon, and waking one takes 50 µs, a tenth of what 10,000 batches of
/// 30 × 30 points take.
class Offers {
public:
    /// At most so many look at once: no more than there are processors.
    explicit Offers(int most_looking) : most_looking_(most_looking) {}

    /// To at most so many of those who look, each of whom will come. Gives how
    /// many.
    int make(const std::shared_ptr<Party>& party, int most) {
        std::lock_guard lock(mutex_);
        const int free = looking_ - int(open_.size());
        const int taken = std::clamp(most, 0, std::max(free, 0));
        open_.insert(open_.end(), std::size_t(taken), party);
        any_ = !open_.empty();
        return taken;
    }

    /// Null: none was offered for a while.
    std::shared_ptr<Party> next() {
        {
            std::lock_guard lock(mutex_);
            if (looking_ >= most_looking_)
                return nullptr;
            ++looking_;
        }
        // Yielding would hand the processor to whoever else looks for work so,
        // as OpenBLAS' threads do, for milliseconds.
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!any_ && std::chrono::steady_clock::now() < end)
            __builtin_ia32_pause();
        std::lock_guard lock(mutex_);
        --looking_;
        if (open_.empty())
            return nullptr;
        auto party = std::move(open_.back());
        open_.pop_back();
        any_ = !open_.empty();
        return party;
    }

private:
    static constexpr std::chrono::microseconds patience{100};
    const int most_looking_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Party>> open_; ///< at most one for each
    int looking_ = 0;
    std::atomic<bool> any_ = false;
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

} // namespace

/// The pool, started at the first need.
struct Crew::Muster {
    std::mutex mutex;
    /// Outlives the pool, whose threads look at it.
    Offers offers{usable_processors() - 1};
    std::unique_ptr<boost::asio::thread_pool> pool;

    /// Helpers for a party: those who look for one, then those who sleep.
    void call(const std::shared_ptr<Party>& party, int helpers, int threads) {
        auto* those = started(threads);
        if (!those)
            return;
        helpers -= offers.make(party, helpers);
        for (int k = 0; k < helpers; ++k)
            boost::asio::post(*those, [this, party] {
                for (auto next = party; next; next = offers.next())
                    next->help();
            });
    }

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
        muster_->call(party, helpers, threads_ - 1);
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
