// runtime/core/fork_gate.h - lets any number of threads in, until somebody
// closes it behind the last one out.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace tilefold {

/// Meant to be closed during fork(). (A std::shared_mutex will not do: threads
/// that wait for it in the parent are counted as readers in the child, for
/// ever. Here they wait for a plain mutex, which a child can unlock.)
class ForkGate {
public:
    /// Inside while it lives. May be handed to another thread. Whoever is
    /// inside gets another one at once, closing gate or not.
    class Pass {
    public:
        explicit Pass(ForkGate& gate) : gate_(&gate) { gate.enter(); }
        Pass(Pass&& other) noexcept
            : gate_(std::exchange(other.gate_, nullptr)) {}
        ~Pass() {
            if (gate_)
                gate_->leave();
        }
        Pass& operator=(const Pass&) = delete;

    private:
        ForkGate* gate_;
    };

    /// Outside while it lives, of a thread that is inside.
    class Break {
    public:
        explicit Break(ForkGate& gate) : gate_(gate) { gate_.leave(); }
        ~Break() { gate_.enter(); }
        Break(const Break&) = delete;
        Break& operator=(const Break&) = delete;

    private:
        ForkGate& gate_;
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
