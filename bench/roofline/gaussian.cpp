// bench/roofline/gaussian.cpp - cuts a call into tasks and merges their sums.

#include "gaussian.h"
#include "block.h"
#include "call.h"

#include <algorithm>
#include <numbers>
#include <vector>

namespace roofline {

namespace {

constexpr std::ptrdiff_t MostSegments = 64;
constexpr std::ptrdiff_t SegmentColumns = 2048; // fewer are not worth a task

// Tasks are blocks of rows times segments of columns. Their number depends on
// n and m alone and segments are merged in order, so threads never change the
// bits.
struct Grid {
    std::ptrdiff_t blocks, segments, segment_columns;

    Grid(std::ptrdiff_t n, std::ptrdiff_t m) {
        blocks = (n + BlockRows - 1) / BlockRows;
        const std::ptrdiff_t wanted = (MostSegments + blocks - 1) / blocks;
        const std::ptrdiff_t useful = (m + SegmentColumns - 1) / SegmentColumns;
        segments = std::max<std::ptrdiff_t>(1, std::min(wanted, useful));
        segment_columns = (m + segments - 1) / segments;
    }
};

template <class T> void run(const Problem<T>& problem, int threads, T* out) {
    const Grid grid(problem.n, problem.m);
    const std::ptrdiff_t rows = grid.blocks * BlockRows;
    auto sums = aligned<double>(rows * grid.segments);
    std::vector<Aligned<T>> scratch(threads);
    for (auto& s : scratch)
        s = aligned<T>(scratch_size<T>(problem.d));

    run_tasks(threads, grid.blocks * grid.segments,
              [&](int worker, std::ptrdiff_t task) {
                  DefaultFloatEnvironment environment;
                  const std::ptrdiff_t block = task / grid.segments;
                  const std::ptrdiff_t segment = task % grid.segments;
                  const std::ptrdiff_t i = block * BlockRows;
                  const std::ptrdiff_t j =
                      std::min(segment * grid.segment_columns, problem.m);
                  double* own = sums.get() + segment * rows + i;
                  std::fill_n(own, BlockRows, 0.0);
                  accumulate(problem, {i, std::min(i + BlockRows, problem.n)},
                             {j, std::min(j + grid.segment_columns, problem.m)},
                             scratch[worker].get(), own);
              });

    DefaultFloatEnvironment environment;
    for (std::ptrdiff_t i = 0; i < problem.n; ++i) {
        double sum = 0;
        for (std::ptrdiff_t s = 0; s < grid.segments; ++s)
            sum += sums[s * rows + i];
        out[i] = T(sum);
    }
}

template <class T>
int gaussian(std::int64_t n, std::int64_t m, std::int64_t d, const T* x,
             const T* y, const T* b, double l, T* out, int threads) {
    if (n < 0 || m < 0 || d < 1)
        return TilefoldRooflineBadArgument;
    if ((n > 0 && !out) || (n > 0 && !x) || (m > 0 && !y) || (m > 0 && !b))
        return TilefoldRooflineBadArgument;
    const T scale = T(-std::numbers::log2e / (2 * l * l));
    return guarded([&] {
        if (n > 0)
            run(Problem<T>{n, m, d, x, y, b, scale}, threads_of(threads), out);
    });
}

} // namespace

} // namespace roofline

int tilefold_roofline_gaussian_f32(std::int64_t n, std::int64_t m,
                                   std::int64_t d, const float* x,
                                   const float* y, const float* b, double l,
                                   float* out, int threads) {
    return roofline::gaussian(n, m, d, x, y, b, l, out, threads);
}

int tilefold_roofline_gaussian_f64(std::int64_t n, std::int64_t m,
                                   std::int64_t d, const double* x,
                                   const double* y, const double* b, double l,
                                   double* out, int threads) {
    return roofline::gaussian(n, m, d, x, y, b, l, out, threads);
}
