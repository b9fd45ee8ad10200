// runtime/core/statistics.h - what a Session counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace tilefold {

/// Counters since the session began.
struct Statistics {
    std::int64_t compiles = 0;    ///< images made by a backend
    std::int64_t memory_hits = 0; ///< images found loaded
    std::int64_t disk_hits = 0;   ///< images read from the cache
    std::int64_t runs = 0;        ///< images run
    /// Tiles of pairs that kernels with index masks met, and left out.
    std::int64_t tiles_visited = 0, tiles_skipped = 0;
    double compile_milliseconds = 0;
};

/// What backends count; see Statistics.
struct DeviceCounters {
    std::atomic<std::int64_t> compiles = 0, memory_hits = 0, disk_hits = 0;
    std::atomic<double> compile_milliseconds = 0;
};

} // namespace tilefold
