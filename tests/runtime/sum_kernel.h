// tests/runtime/sum_kernel.h - kernels written by hand against the ABI, which
// also watch that the runtime keeps its side of it.
//
// sum:     out[i, e] = Σ_j p · g(x_i, y_j) · b[j, e], g(x, y) = 1/(1 + |x - y|)
// argmin:  out[i] = first j with the least |x_i - y_j|
// zip, dense: g(x_i, y_j) · p
// Operands: x (rows), y (columns), b (columns, wide), p (parameter), all f64.
#pragma once

#include "runtime/cpu/kernel.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace tilefold::test {

/// What kernels saw since the last reset.
struct Witness {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::set<std::string> complaints;
    std::atomic<std::int64_t> prepared = 0;
    std::atomic<std::int64_t> accumulated = 0; ///< calls
    /// Sleep in every accumulate, to make a run long.
    std::atomic<int> microseconds = 0;
    /// Wait in accumulate until so many threads have come, a second at most.
    std::atomic<int> rendezvous = 0;

    void reset();
    void met_thread();
    void complain(const std::string& what);
};
Witness& witness();

double pair_term(double x, double y);

enum : int { operand_x, operand_y, operand_b, operand_p };

/// Small blocks and panels, so that small arrays are cut often; every pair
/// is said to cost `nanoseconds`.
Kernel sum_kernel(double nanoseconds = 0.5);
Kernel argmin_kernel(double nanoseconds = 0.5);

} // namespace tilefold::test
