// bench/roofline/nearest.h - argmin, max and the k nearest, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// x is (n, d), y (m, d), row-major and dense, d >= 1, m >= 1. Differences are
/// exact and squares are added coordinate by coordinate in float.
///
/// The port bound is 2 d + 1 operations for 16 pairs (nearest_avx512.cpp); of
/// the nearest of 32 coordinates and more, where there are products of bf16,
/// d / 2 + 1, which take Intel's one port (sieve_avx512.cpp).

/// out_i = the place of the smallest |x_i - y_j|^2, of equal ones the first; of
/// the first NaN, if there is one.
int tilefold_roofline_argmin_f32(std::int64_t n, std::int64_t m, std::int64_t d,
                                 const float* x, const float* y,
                                 std::int64_t* out, int threads);

/// out_i = the largest |x_i - y_j|^2; NaN if there is one.
int tilefold_roofline_max_f32(std::int64_t n, std::int64_t m, std::int64_t d,
                              const float* x, const float* y, float* out,
                              int threads);

/// out, (n, count), = the places of the `count` smallest in order, of equal
/// ones the first; NaN comes last. 1 <= count <= 16, count <= m.
int tilefold_roofline_nearest_f32(std::int64_t n, std::int64_t m,
                                  std::int64_t d, std::int64_t count,
                                  const float* x, const float* y,
                                  std::int64_t* out, int threads);
}

namespace roofline {

constexpr int NearestRows = 64;  // of a block: four vectors
constexpr int NearestGroup = 48; // columns whose smallest is kept
constexpr int MostNearest = 16;

struct NearestSieve; // sieve.h

/// A call; `groups` is y packed by pack_transposed() in groups of NearestGroup.
/// All coordinates are finite.
struct NearestProblem {
    std::ptrdiff_t n, m, d;
    const float *x, *y, *groups;
    const NearestSieve* sieve = nullptr; ///< where products of bf16 come first

    std::ptrdiff_t count() const { // of groups
        return (m + NearestGroup - 1) / NearestGroup;
    }
};

/// Floats of scratch of the functions below.
std::size_t nearest_scratch(const NearestProblem& problem);

/// Results of at most NearestRows rows from `first`.
void argmin_rows(const NearestProblem& problem, std::ptrdiff_t first,
                 float* scratch, std::int64_t* out);
void max_rows(const NearestProblem& problem, std::ptrdiff_t first,
              float* scratch, float* out);
void nearest_rows(const NearestProblem& problem, std::ptrdiff_t first,
                  std::ptrdiff_t count, float* scratch, std::int64_t* out);

} // namespace roofline
