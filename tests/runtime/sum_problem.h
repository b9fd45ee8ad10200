// tests/runtime/sum_problem.h - arrays and jobs for the hand-written kernels.
#pragma once

#include "runtime/schedule/launch.h"
#include "tests/runtime/sum_kernel.h"

#include <cstdint>
#include <vector>

namespace tilefold::test {

/// x (N), y (M), b (M, E), p and the result (N, E), all owned here.
class SumProblem {
public:
    SumProblem(Kernel kernel, std::int64_t rows, std::int64_t columns,
               std::int64_t width = 1);

    Job job();
    /// Runs on `threads` threads.
    void run(int threads, const Poll& poll = {});
    /// Σ_j … in long double, for row i and component e.
    double expected(std::int64_t i, std::int64_t e = 0) const;

    Kernel kernel;
    LoopKind loop = LoopKind::Reduce;
    std::int64_t rows, columns, width;
    std::vector<double> x, y, b;
    double p = 0.75;
    std::vector<double> out;
    std::vector<tilefold_kernel_operand> operands;
    Batches batches;
};

} // namespace tilefold::test
