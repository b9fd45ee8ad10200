// runtime/threads.cpp - helpers that wait for parties of work.
//
// Why not a task scheduler: a run needs nothing but "this function on k
// threads at once", and three promises that a shared scheduler cannot keep.
// Measured with oneTBB 2021.8, 8 threads asked on 2 cores:
//  - in a child, 0 of 7 workers answered as soon as another thread or
//    library of the parent had used the scheduler (tbb::finalize refuses);
//  - finalize before the fork stops every run of other threads, and takes up
//    to 4 ms;
//  - the number of threads is the least that anyone in the process has set.
// Here a fork needs no preparation, and the number asked is the number run.

#include "runtime/threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilefold {
namespace {

/// One call of together(); lives on its caller's stack.
struct Party {
    const std::function<void()>* share;
    int places; ///< helpers that may still enter
    int inside; ///< helpers that work on it
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

struct Crew::Muster {
    std::mutex mutex;
    std::condition_variable work; ///< a party has places, or closing
    std::condition_variable left; ///< a helper left a party
    std::deque<Party*> open;      ///< parties with places, oldest first
    std::vector<std::thread> helpers;
    bool closing = false;

    void serve();
    void start_helpers(std::size_t wanted);
    void close(Party& party);
};

/// A helper's life.
void Crew::Muster::serve() {
    std::unique_lock lock(mutex);
    for (;;) {
        work.wait(lock, [this] { return closing || !open.empty(); });
        if (closing)
            return;
        Party& party = *open.front();
        if (--party.places == 0)
            open.pop_front();
        ++party.inside;
        lock.unlock();
        (*party.share)();
        lock.lock();
        if (--party.inside == 0)
            left.notify_all();
    }
}

/// A system that refuses a thread leaves us with fewer; the caller of
/// together() works anyway.
void Crew::Muster::start_helpers(std::size_t wanted) {
    if (helpers.size() >= wanted)
        return;
    SignalsBlocked blocked;
    try {
        while (helpers.size() < wanted) {
            helpers.emplace_back([this] { serve(); });
            pthread_setname_np(helpers.back().native_handle(), "tilefold");
        }
    } catch (const std::system_error&) {
    }
}

void Crew::Muster::close(Party& party) {
    if (party.places > 0)
        std::erase(open, &party);
    party.places = 0;
}

Crew::Crew(int threads)
    : threads_(std::max(threads, 1)), muster_(std::make_unique<Muster>()) {}

Crew::~Crew() {
    {
        std::lock_guard lock(muster_->mutex);
        muster_->closing = true;
    }
    muster_->work.notify_all();
    for (std::thread& helper : muster_->helpers)
        helper.join();
}

bool Crew::together(int helpers, const std::function<void()>& share,
                    const std::function<void()>& waiting) {
    Muster* muster = muster_.get();
    Party party{&share, std::min(helpers, threads_ - 1), 0};
    if (party.places > 0) {
        std::lock_guard lock(muster->mutex);
        muster->start_helpers(std::size_t(party.places));
        muster->open.push_back(&party);
    }
    muster->work.notify_all();
    share();
    // Callbacks may fork; in the child the old muster must not be touched.
    if (muster_.get() != muster)
        return false;
    std::unique_lock lock(muster->mutex);
    muster->close(party);
    auto all_left = [&] { return party.inside == 0; };
    while (!muster->left.wait_for(lock, std::chrono::milliseconds(50),
                                  all_left)) {
        lock.unlock();
        waiting();
        if (muster_.get() != muster)
            return false;
        lock.lock();
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
