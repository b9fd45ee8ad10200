// bench/roofline/gaussian.h - the contract of the hand-written Gaussian sums.
#pragma once

#include "codes.h"

#include <cstdint>

/// The roofline: how fast this machine can compute
///
///     out_i = sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j
///
/// when one formula is written by hand in AVX-512, under the contract that
/// tilefold's generated code obeys. A generated kernel is judged against it.
///
/// 1. Exact differences: coordinates are subtracted as they are given and the
///    scale multiplies |x_i - y_j|^2, never a coordinate.
/// 2. exp2 has at most 1.1 ulp over every argument that can occur, results in
///    the subnormal range included; -inf gives 0 and NaN propagates.
/// 3. Terms are added in the type of the arrays over at most 256 columns, then
///    in double.
/// 4. Any n, m >= 0 and d >= 1; m = 0 gives zeros.
/// 5. The bits of the result do not depend on the number of threads.
///
/// Tuned for d = 3 (stream.h) and for d from about 8 (tile.h), right for all.
///
/// x is (n, d), y is (m, d), both row-major and dense; b is (m), out is (n).
/// out must not overlap an input. threads <= 0 means one per hardware thread.
/// The threads live from the first call that needs them to the end of the
/// process; calls from several threads are serialised.
///
/// Returns 0, or another of the codes (codes.h) with out left unchanged.
extern "C" {

int tilefold_roofline_gaussian_f32(std::int64_t n, std::int64_t m,
                                   std::int64_t d, const float* x,
                                   const float* y, const float* b, double l,
                                   float* out, int threads);

int tilefold_roofline_gaussian_f64(std::int64_t n, std::int64_t m,
                                   std::int64_t d, const double* x,
                                   const double* y, const double* b, double l,
                                   double* out, int threads);
}
