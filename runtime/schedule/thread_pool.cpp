// runtime/schedule/thread_pool.cpp - a pool of threads for groups of tasks.
//
// A run needs no more than "this function on k threads at once". Neither
// oneTBB nor Boost.Asio gives that as a run needs it:
//  - oneTBB 2021.8: in a child, 0 of 7 workers answered as soon as another
//    thread or library of the parent had used the scheduler; finalize before
//    the fork stops every run of other threads; the number of threads is the
//    least that anyone in the process has set;
//  - Boost.Asio 1.74: where the system grants some threads and refuses others,
//    the pool's constructor waits for ever, and posting allocates, which may
//    fail when some helpers are called already.
//
// 1. A group lies on its caller's stack: calling for help allocates nothing.
//    Threads find it in a list, and enter and leave it under one mutex.
// 2. However its caller leaves together(), nobody enters the group any more,
//    and all that did have left it.
// 3. A fork needs no preparation: the child forgets the threads, the mutex and
//    the list, and makes new ones.

#include "runtime/schedule/thread_pool.h"

#include "runtime/core/signals_blocked.h"
#include "runtime/cpu/architecture.h"
#include "runtime/cpu/thread_limit.h"
#include "runtime/system/system.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace tilefold {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread looks before it sleeps: waking one takes 50 µs, a tenth
/// of what 10,000 batches of 30 × 30 points take, and the next call often
/// follows soon.
constexpr std::chrono::microseconds patience{100};
constexpr std::chrono::milliseconds between_waits{50};
constexpr std::chrono::seconds between_refusals{1};

/// Looks until `found()` or out of patience. Yielding would hand the processor
/// to whoever else looks for work so, as OpenBLAS' threads do, for
/// milliseconds.
template <class Found> void look(Found found) {
    const auto end = Clock::now() + patience;
    while (!found() && Clock::now() < end)
        cpu::pause();
}

/// What a call of together() shares.
struct TaskGroup {
    explicit TaskGroup(const std::function<void()>& share) : share(share) {}

    const std::function<void()>& share;
    const int processor = system::current_processor(); ///< the caller's
    // Under the mutex of the Impl:
    int wanted = 0; ///< helpers that may still enter
    std::atomic<int> inside = 0;
    std::exception_ptr error; ///< the first that a helper met
    std::condition_variable left;
    TaskGroup* next = nullptr; ///< behind it in the list
};

/// Groups that want helpers: first come, first served.
class Waiting {
public:
    bool empty() const { return !first_; }
    const TaskGroup& front() const { return *first_; }
    void add(TaskGroup& group) {
        TaskGroup** end = &first_;
        while (*end)
            end = &(*end)->next;
        *end = &group;
    }
    /// Does nothing where it is not there.
    void remove(const TaskGroup& group) {
        for (TaskGroup** at = &first_; *at; at = &(*at)->next)
            if (*at == &group) {
                *at = group.next;
                return;
            }
    }
    /// Joins the first group, as one of the helpers that it wants.
    TaskGroup& enter() {
        TaskGroup& group = *first_;
        ++group.inside;
        if (--group.wanted == 0)
            first_ = group.next;
        return group;
    }

private:
    TaskGroup* first_ = nullptr;
};

} // namespace

/// The helpers, and the groups that want some.
class ThreadPool::Impl {
public:
    explicit Impl(int helpers) : helpers_(std::size_t(helpers)) {}
    ~Impl();

    void start();
    /// Calls helpers to a group, `count` at most.
    void open(TaskGroup& group, int count);
    /// Nobody enters it any more.
    void close(TaskGroup& group);
    /// Whether all helpers have left within 50 ms. They are at their last
    /// pieces when the caller has none left, and waking it would take longer.
    bool all_left(TaskGroup& group);

private:
    using Lock = std::unique_lock<std::mutex>;

    void work(int creators_processor);
    void look_for_groups(Lock& lock);
    void help(Lock& lock);

    const std::size_t helpers_;
    /// So many threads look at once at most: no more than there are processors.
    const int most_looking_ = system::usable_processors() - 1;
    std::mutex mutex_;
    std::condition_variable called_;
    Waiting groups_;
    std::atomic<int> wanted_ = 0; ///< by all of them
    int looking_ = 0;
    bool ending_ = false;
    std::vector<std::thread> threads_;
    Clock::time_point next_try_; ///< to start those that are missing
};

ThreadPool::Impl::~Impl() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    called_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void ThreadPool::Impl::start() {
    const std::lock_guard lock(mutex_);
    if (threads_.size() == helpers_ || Clock::now() < next_try_)
        return;
    const SignalsBlocked blocked;
    const int here = system::current_processor();
    try {
        threads_.reserve(helpers_);
        while (threads_.size() < helpers_)
            threads_.emplace_back([this, here] { work(here); });
    } catch (const std::exception&) { // of the system, or no memory
        next_try_ = Clock::now() + between_refusals;
    }
    sched_yield(); // to them
}

void ThreadPool::Impl::open(TaskGroup& group, int count) {
    start();
    int asleep = 0;
    {
        const std::lock_guard lock(mutex_);
        count = std::min(count, int(threads_.size()));
        if (count <= 0)
            return;
        // Threads that look for work come by themselves.
        asleep = count - std::max(looking_ - wanted_, 0);
        group.wanted = count;
        groups_.add(group);
        wanted_ += count;
    }
    for (; asleep > 0; --asleep)
        called_.notify_one();
}

void ThreadPool::Impl::close(TaskGroup& group) {
    const std::lock_guard lock(mutex_);
    wanted_ -= group.wanted;
    group.wanted = 0;
    groups_.remove(group);
}

bool ThreadPool::Impl::all_left(TaskGroup& group) {
    look([&] { return group.inside == 0; });
    Lock lock(mutex_);
    return group.left.wait_for(lock, between_waits,
                               [&] { return group.inside == 0; });
}

/// A thread's life. It begins on the processor of its creator, where Linux 6.18
/// lets it wait, for 2 to 4 ms, though others are idle.
void ThreadPool::Impl::work(int creators_processor) {
    system::leave_processor(creators_processor);
    Lock lock(mutex_);
    while (!ending_) {
        if (groups_.empty()) {
            called_.wait(lock, [this] { return ending_ || !groups_.empty(); });
            continue;
        }
        help(lock);
        if (groups_.empty() && looking_ < most_looking_)
            look_for_groups(lock);
    }
}

void ThreadPool::Impl::look_for_groups(Lock& lock) {
    ++looking_;
    lock.unlock();
    look([this] { return wanted_ > 0; });
    lock.lock();
    --looking_;
}

/// Helps in the first group, if there is one still when the thread has left the
/// processor of its caller, where it would wait for the caller.
void ThreadPool::Impl::help(Lock& lock) {
    const int processor = groups_.front().processor;
    lock.unlock();
    system::leave_processor(processor);
    lock.lock();
    if (groups_.empty())
        return;
    TaskGroup& group = groups_.enter();
    --wanted_;
    lock.unlock();
    std::exception_ptr error;
    try {
        group.share();
    } catch (...) {
        error = std::current_exception();
    }
    lock.lock();
    if (error && !group.error)
        group.error = std::move(error);
    if (--group.inside == 0)
        group.left.notify_all();
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)),
      impl_(std::make_unique<Impl>(threads_ - 1)) {}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const {
    return std::min(threads_, thread_limit());
}

void ThreadPool::start() {
    if (threads() > 1)
        impl_->start();
}

/// The caller's side of a group, which ends with it.
class ThreadPool::Host {
public:
    Host(const std::unique_ptr<Impl>& impl, TaskGroup& group, int helpers)
        : now_(impl), impl_(*impl), group_(group) {
        if (helpers > 0)
            impl_.open(group_, helpers);
    }
    ~Host() {
        if (is_in_child())
            return;
        close();
        while (!all_left())
            ;
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Callbacks may fork; in the child the helpers are gone.
    bool is_in_child() const { return now_.get() != &impl_; }
    void close() const { impl_.close(group_); }
    bool all_left() const { return impl_.all_left(group_); }

private:
    const std::unique_ptr<Impl>& now_;
    Impl& impl_;
    TaskGroup& group_;
};

bool ThreadPool::together(int helpers, const std::function<void()>& share,
                          const std::function<void()>& waiting) {
    TaskGroup group(share);
    {
        const Host host(impl_, group, std::min(helpers, threads() - 1));
        share();
        if (host.is_in_child())
            return false;
        host.close();
        while (!host.all_left()) {
            waiting();
            if (host.is_in_child())
                return false;
        }
    }
    if (group.error)
        std::rethrow_exception(group.error);
    return true;
}

void ThreadPool::renew_in_child() {
    // Its mutex may be locked and its threads no longer exist: destroying it
    // would wait for ever.
    static_cast<void>(impl_.release());
    impl_ = std::make_unique<Impl>(threads_ - 1);
}

} // namespace tilefold
