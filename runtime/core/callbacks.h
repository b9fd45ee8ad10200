// runtime/core/callbacks.h - what a caller is asked while work takes long.
#pragma once

#include <algorithm>
#include <functional>

namespace tilefold {

/// Asked on the calling thread every 50 ms while a formula is compiled or an
/// array of indices is looked through; false cancels: Error(Cancelled) is
/// thrown.
using GoesOn = std::function<bool()>;

/// Called on the calling thread at least every 50 ms of a long run with the
/// pairs done and to do; false cancels (run() then throws Error(Cancelled)).
using Poll = std::function<bool(double done, double total)>;

/// Asks `poll`, which outlives it, while none of `pairs` pairs is done yet;
/// null where nobody polls.
inline GoesOn before_pairs(const Poll& poll, double pairs) {
    if (!poll)
        return {};
    return [&poll, total = std::max(pairs, 1.0)] { return poll(0, total); };
}

} // namespace tilefold
