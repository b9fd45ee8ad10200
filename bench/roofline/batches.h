// bench/roofline/batches.h - many small Gaussian sums, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// For each of `batches` pairs of clouds in three dimensions,
///
///     out_i = sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j
///
/// under the contract of gaussian.h. x is (batches, n, 3), y (batches, m, 3), b
/// (batches, m), out (batches, n), all dense.
///
/// The port bound is that of the Gaussian sum, 16 operations for 16 pairs, by
/// the share of the lanes that have a row: 30 of 32 for n = 30.
int tilefold_roofline_batches_f32(std::int64_t batches, std::int64_t n,
                                  std::int64_t m, const float* x,
                                  const float* y, const float* b, double l,
                                  float* out, int threads);
}

namespace roofline {

/// One pair of clouds.
struct BatchProblem {
    std::ptrdiff_t n, m;
    const float *x, *y, *b;
    float scale;
    float* out;
};

void batch(const BatchProblem& problem);

} // namespace roofline
