// bench/roofline/pool.h - threads that outlive a call, so that none is timed.
#pragma once

#include <cstddef>
#include <functional>

namespace roofline {

/// task(worker, index): worker < threads, index < tasks.
using Task = std::function<void(int worker, std::ptrdiff_t index)>;

/// Runs task once for every index below tasks, on the caller and threads - 1
/// kept threads, in any order; returns when all are done. Calls are
/// serialised. task must not throw. Throws std::system_error if a thread
/// cannot be started, before any task has run.
void run_tasks(int threads, std::ptrdiff_t tasks, const Task& task);

} // namespace roofline
