// runtime/core/going_on.h - asks now and then whether to go on.
#pragma once

#include "runtime/core/callbacks.h"

#include <chrono>
#include <cstdint>

namespace tilefold {

/// Asks whether to go on, for one thread, in work that is done in many small
/// steps.
class GoingOn {
public:
    /// `goes_on` outlives it.
    explicit GoingOn(const GoesOn& goes_on) : goes_on_(goes_on) {}

    /// Counts `steps` of some nanoseconds that are done, and asks every 50 ms.
    /// Throws Error(Cancelled).
    void after(std::int64_t steps) {
        steps_ += steps;
        if (steps_ >= steps_between_looks)
            look();
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t steps_between_looks = 1 << 16;
    static constexpr std::chrono::milliseconds interval{50};

    void look();

    const GoesOn& goes_on_;
    std::int64_t steps_ = 0;
    Clock::time_point due_ = Clock::now() + interval;
};

} // namespace tilefold
