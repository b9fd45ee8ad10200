// bench/roofline/wide.h - the Gaussian sum of many right-hand sides, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// out_ie = sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_je in three dimensions, under
/// the contract of gaussian.h. x is (n, 3), y (m, 3), b (m, columns), out
/// (n, columns), all row-major and dense. Needs 4 m columns bytes beside them.
///
/// The port bound is 15 + columns operations for 16 pairs (wide_avx512.cpp).
int tilefold_roofline_wide_f32(std::int64_t n, std::int64_t m,
                               std::int64_t columns, const float* x,
                               const float* y, const float* b, double l,
                               float* out, int threads);
}

namespace roofline {

/// A call; b is packed as pack_panels() does.
struct WideProblem {
    std::ptrdiff_t n, m, columns; // columns rounded up
    const float *x, *y, *b;
    float scale;
};

/// Floats of scratch of wide_rows().
std::size_t wide_scratch(const WideProblem& problem);

/// totals[e][row] of the 48 rows from `first`, in double.
void wide_rows(const WideProblem& problem, std::ptrdiff_t first, float* scratch,
               double* totals);

} // namespace roofline
