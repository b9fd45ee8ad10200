// runtime/gate.h - lets any number of threads in, until somebody closes it
// behind the last one out.
#pragma once

#include <condition_variable>
#include <mutex>

namespace tilefold {

/// Meant to be closed during fork(). (A std::shared_mutex will not do: threads
/// that wait for it in the parent are counted as readers in the child, for
/// ever. Here they wait for a plain mutex, which a child can unlock.)
class Gate {
public:
    /// Inside while it lives. Not to be nested.
    class Pass {
    public:
        explicit Pass(Gate& gate) : gate_(gate) { gate_.enter(); }
        ~Pass() { gate_.leave(); }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

    private:
        Gate& gate_;
    };

    /// Waits until nobody is inside, and keeps it so until open().
    void close() {
        std::unique_lock lock(mutex_);
        empty_.wait(lock, [this] { return inside_ == 0; });
        lock.release();
    }
    void open() { mutex_.unlock(); }

private:
    void enter() {
        std::lock_guard lock(mutex_);
        ++inside_;
    }
    void leave() {
        std::lock_guard lock(mutex_);
        if (--inside_ == 0)
            empty_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable empty_;
    int inside_ = 0;
};

} // namespace tilefold
