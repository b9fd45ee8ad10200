// bench/roofline/logsumexp.h - the log of a sum of exponentials, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// out_i = log sum_j exp(-|x_i - y_j|^2 / 2) in three dimensions, with exact
/// differences, sums in double and the exponential of lanes.h; -inf where all
/// terms are infinitely far, NaN where one is NaN; within 1e-6, or 1e-6 of the
/// result. x is (n, 3), y (m, 3), row-major and dense; m >= 1.
///
/// The port bound is that of the Gaussian sum, 16 operations for 16 pairs.
int tilefold_roofline_logsumexp_f32(std::int64_t n, std::int64_t m,
                                    const float* x, const float* y, float* out,
                                    int threads);
}

namespace roofline {

constexpr std::ptrdiff_t LogRows = 256; // of a block

struct LogProblem {
    std::ptrdiff_t n, m;
    const float *x, *y;
};

/// Floats of scratch of logsumexp_rows().
std::size_t logsumexp_scratch();

/// sum_j exp2(s_ij - references[i]) of at most LogRows rows from `first`; both
/// results have LogRows elements.
void logsumexp_rows(const LogProblem& problem, std::ptrdiff_t first,
                    float* scratch, float* references, double* sums);

} // namespace roofline
