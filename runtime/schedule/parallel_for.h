// runtime/schedule/parallel_for.h - items that threads draw from one counter,
// until there are none left or the run ends early.
#pragma once

#include "formulas/diagnostic.h"
#include "runtime/cpu/float_mode.h"
#include "runtime/schedule/progress.h"
#include "runtime/schedule/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace tilefold {

/// Items [begin, end), drawn by any thread, `grain` at a time.
class Draw {
public:
    Draw(std::int64_t begin, std::int64_t end, std::int64_t grain = 1)
        : next_(begin), size_(end - begin), end_(end), grain_(grain) {}

    std::int64_t size() const { return size_; }

    /// Calls body(item) for what the calling thread draws. False where the run
    /// was stopped, or `body` returned false, before all items were drawn.
    template <class Body> bool each(const Progress& progress, Body&& body) {
        for (;;) {
            std::int64_t at = next_.fetch_add(grain_);
            if (at >= end_)
                return true;
            const std::int64_t stop = std::min(at + grain_, end_);
            for (; at < stop; ++at)
                if (progress.stopped() || !body(at))
                    return false;
        }
    }

private:
    std::atomic<std::int64_t> next_;
    const std::int64_t size_, end_, grain_;
};

/// Works on the items of `draw` on the calling thread and on helpers of the
/// pool. Each of them makes a body by begin(watcher), and calls it with each
/// item that it draws; a body that returns false draws no more. What a body
/// throws, and what the callback answers, ends the run, and is for
/// progress.rethrow(). Throws Error(Cancelled) in a child that was forked
/// inside.
template <class Begin>
void parallel_for(ThreadPool& pool, Progress& progress, Draw& draw,
                  const Begin& begin) {
    const std::thread::id caller = std::this_thread::get_id();
    const unsigned mode = cpu::FloatMode().callers();
    const auto share = [&] {
        progress.guard([&] {
            const bool polls = std::this_thread::get_id() == caller;
            auto body = begin(Watcher{progress, polls, mode});
            draw.each(progress, body);
        });
    };
    const auto waiting = [&] { progress.poll_if_due(mode); };
    const int helpers =
        int(std::min<std::int64_t>(draw.size(), pool.threads())) - 1;
    if (!pool.together(helpers, std::ref(share), std::ref(waiting)))
        fail(Code::Cancelled, {"a fork in the callback"});
}

} // namespace tilefold
