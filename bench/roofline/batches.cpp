// bench/roofline/batches.cpp - runs of pairs of clouds.

#include "batches.h"
#include "call.h"

#include <numbers>

namespace roofline {

namespace {

constexpr std::ptrdiff_t Run = 64; // pairs of clouds in a task

} // namespace

} // namespace roofline

int tilefold_roofline_batches_f32(std::int64_t batches, std::int64_t n,
                                  std::int64_t m, const float* x,
                                  const float* y, const float* b, double l,
                                  float* out, int threads) {
    using namespace roofline;
    if (batches < 0 || n < 0 || m < 0)
        return TilefoldRooflineBadArgument;
    if ((batches * n > 0 && (!x || !out)) || (batches * m > 0 && (!y || !b)))
        return TilefoldRooflineBadArgument;
    const float scale = float(-std::numbers::log2e / (2 * l * l));
    return guarded([&] {
        for_blocks(threads_of(threads), batches, Run, 0,
                   [&](std::ptrdiff_t begin, std::ptrdiff_t end, float*) {
                       for (std::ptrdiff_t k = begin; k < end; ++k)
                           batch({n, m, x + 3 * n * k, y + 3 * m * k, b + m * k,
                                  scale, out + n * k});
                   });
    });
}
