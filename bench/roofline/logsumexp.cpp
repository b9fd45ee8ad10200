// bench/roofline/logsumexp.cpp - blocks of rows, and their logarithms.

#include "logsumexp.h"
#include "call.h"

#include <cmath>
#include <numbers>

int tilefold_roofline_logsumexp_f32(std::int64_t n, std::int64_t m,
                                    const float* x, const float* y, float* out,
                                    int threads) {
    using namespace roofline;
    if (n < 0 || m < 1 || !y || (n > 0 && (!x || !out)))
        return TilefoldRooflineBadArgument;
    const LogProblem problem = {n, m, x, y};
    return guarded([&] {
        for_blocks(threads_of(threads), n, LogRows, logsumexp_scratch(),
                   [&](std::ptrdiff_t begin, std::ptrdiff_t end, float* own) {
                       alignas(64) float references[LogRows];
                       alignas(64) double sums[LogRows];
                       logsumexp_rows(problem, begin, own, references, sums);
                       for (std::ptrdiff_t k = 0; k < end - begin; ++k)
                           out[begin + k] =
                               float(std::log(sums[k]) +
                                     std::numbers::ln2 * references[k]);
                   });
    });
}
