// runtime/schedule/launch.h - runs a job on the threads of a Session.
#pragma once

#include "runtime/core/callbacks.h"
#include "runtime/schedule/partition.h"
#include "runtime/schedule/thread_pool.h"

namespace tilefold {

/// What kernels noted while they ran.
struct Noted {
    /// Tiles of pairs that those with masks met, and left out.
    std::int64_t met = 0, left_out = 0;
    bool left_range = false; ///< results mean nothing; see tilefold_kernel_call
};

/// Bytes that a run takes beside its arrays, with all of a pool's threads.
std::size_t memory_of(const Job& job, const Partition& partition, int threads);

/// Computes everything the job asks for, cut as `partition` says. Small jobs
/// stay on the calling thread, and allocate nothing there once its scratch has
/// grown. Results do not depend on the number of threads. Throws
/// Error(Cancelled), what `poll` threw, or OutOfMemory.
Noted launch(const Job& job, const Partition& partition, ThreadPool& pool,
             const Poll& poll);

inline Noted launch(const Job& job, ThreadPool& pool, const Poll& poll) {
    return launch(job, partition_of(job), pool, poll);
}

} // namespace tilefold
