// runtime/cpu/thread_limit.cpp - see thread_limit.h.

#include "runtime/cpu/thread_limit.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/environment.h"
#include "runtime/system/system.h"

#include <algorithm>
#include <atomic>
#include <climits>

namespace tilefold {
namespace {

std::atomic<int> limit = INT_MAX;

/// C has no exceptions: a variable that is no number is met by the session.
int unlimited() {
    try {
        return default_threads();
    } catch (const Error&) {
        return system::usable_processors();
    }
}

} // namespace

int thread_limit() {
    return limit.load(std::memory_order_relaxed);
}

int usual_threads() {
    return std::min(thread_limit(), unlimited());
}

void set_thread_limit(int threads) {
    limit = threads >= unlimited() ? INT_MAX : std::max(threads, 1);
}

} // namespace tilefold
