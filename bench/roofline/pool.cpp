// bench/roofline/pool.cpp - threads that outlive a call, so that none is timed.

#include "pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace roofline {

namespace {

// A call is a generation. Workers below its thread count take part, the others
// sleep on; the call ends when every participant has run out of tasks.
class Pool {
public:
    void run(int threads, std::ptrdiff_t tasks, const Task& task) {
        std::lock_guard one_call(call_);
        while (started_ < threads - 1)
            start(started_ + 1);
        {
            std::lock_guard lock(mutex_);
            task_ = &task;
            tasks_ = tasks;
            next_ = 0;
            participants_ = threads;
            busy_ = threads - 1;
            ++generation_;
        }
        wake_.notify_all();
        work(0);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    // Detached: a thread sleeps in wake_ until the process ends, and the pool
    // is never destroyed.
    void start(int worker) {
        std::thread([this, worker, seen = generation_]() mutable {
            for (;;)
                serve(worker, seen);
        }).detach();
        ++started_;
    }

    void serve(int worker, std::size_t& seen) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return generation_ != seen; });
            seen = generation_;
            if (worker >= participants_)
                return;
        }
        work(worker);
        std::lock_guard lock(mutex_);
        if (--busy_ == 0)
            done_.notify_one();
    }

    void work(int worker) {
        for (std::ptrdiff_t i; (i = next_.fetch_add(1)) < tasks_;)
            (*task_)(worker, i);
    }

    std::mutex call_, mutex_;
    std::condition_variable wake_, done_;
    std::size_t generation_ = 0;
    int started_ = 0, participants_ = 0, busy_ = 0;
    const Task* task_ = nullptr;
    std::ptrdiff_t tasks_ = 0;
    std::atomic<std::ptrdiff_t> next_ = 0;
};

// A forked child has none of its parent's threads: it gets a pool of its own.
Pool& pool_of_this_process() {
    static std::mutex mutex;
    static Pool* pool = nullptr;
    static pid_t owner = 0;
    std::lock_guard lock(mutex);
    if (owner != getpid()) {
        pool = new Pool;
        owner = getpid();
    }
    return *pool;
}

} // namespace

void run_tasks(int threads, std::ptrdiff_t tasks, const Task& task) {
    pool_of_this_process().run(threads, tasks, task);
}

} // namespace roofline
