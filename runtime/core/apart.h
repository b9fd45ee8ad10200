// runtime/core/apart.h - work on a thread of its own, which nobody need wait
// for.
#pragma once

#include "runtime/core/signals_blocked.h"

#include <exception>
#include <memory>
#include <thread>
#include <utility>

namespace tilefold {

/// Runs work() on a new thread; here, where the system refuses one. What it
/// holds is destroyed there, in the order of its members. `work` throws
/// nothing.
template <class Work> void run_apart(Work work) {
    auto shared = std::make_shared<Work>(std::move(work));
    try {
        const SignalsBlocked blocked;
        std::thread([shared] { (*shared)(); }).detach();
        return;
    } catch (const std::exception&) { // of the system, or no memory
    }
    (*shared)();
}

} // namespace tilefold
