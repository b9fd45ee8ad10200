// runtime/schedule/thread_pool.h - the threads of a Session.
#pragma once

#include <functional>
#include <memory>

namespace tilefold {

/// Threads that help whoever calls together(). They start at the first need
/// and wait for work until the ThreadPool is destroyed. Any number of threads
/// may call together() at once; they share the helpers.
///
/// Where the system refuses threads, the pool works with those it has, be it
/// with none, and asks for the others again a second later.
class ThreadPool {
public:
    explicit ThreadPool(int threads); ///< helpers and one caller, at least 1
    ~ThreadPool();                    ///< nobody may be in together()
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Returns how many it was made with, or fewer where thread_limit() says
    /// so.
    int threads() const;

    /// Starts the threads, if none was needed yet: a new one may take
    /// milliseconds to be given a processor.
    void start();

    /// Runs `share` on the calling thread and, as they become free, on up to
    /// `helpers` others at the same time. Returns when all that began it
    /// have returned: `share` must be written so that it ends when there is
    /// nothing left to do, and so that one thread alone could do it all.
    /// While only helpers still work, `waiting` is called on the calling
    /// thread every 50 ms.
    ///
    /// Allocates nothing and throws nothing of its own. What `share` throws,
    /// on whichever thread, or `waiting`, is thrown here once nobody is inside
    /// any more; of several, the caller's.
    /// False in a child that was forked inside: the helpers' work is lost.
    [[nodiscard]] bool together(int helpers, const std::function<void()>& share,
                                const std::function<void()>& waiting);

    /// A forked child calls this: the helpers are gone, and new ones start when
    /// they are needed.
    void renew_in_child();

private:
    class Impl;
    class Host;
    int threads_;
    std::unique_ptr<Impl> impl_;
};

} // namespace tilefold
