// bench/roofline/attention.h - softmax(q k^T / sqrt(d)) v, by hand.
#pragma once

#include "codes.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// q is (n, d), k (m, d), v (m, e), out (n, e), all row-major and dense; m
/// >= 1. Scores are float dot products; weights exp(score - r) have the
/// exponential of lanes.h, where r is near the largest score and is raised when
/// a panel of 128 keys needs it; sums are carried to double every 256 keys. A
/// NaN in a row of q or anywhere in k gives NaN. Needs 4 m (d + e) bytes beside
/// them.
///
/// The port bound is d + e + 10 operations for 16 pairs
/// (attention_avx512.cpp).
int tilefold_roofline_attention_f32(std::int64_t n, std::int64_t m,
                                    std::int64_t d, std::int64_t e,
                                    const float* q, const float* k,
                                    const float* v, float* out, int threads);

/// How scores of bfloat16 are computed.
enum {
    ScoresAsFast = 0,  ///< the faster one on this processor
    ScoresOfFloat = 1, ///< q and k converted beforehand; the bound of float
    ScoresOfPairs = 2, ///< AVX512-BF16: d / 2 operations, 2^-127 and less are 0
};

/// The same of bfloat16, as its bits; d is even. The result is float. Products
/// of scores are exact.
int tilefold_roofline_attention_bf16(std::int64_t n, std::int64_t m,
                                     std::int64_t d, std::int64_t e,
                                     const std::uint16_t* q,
                                     const std::uint16_t* k,
                                     const std::uint16_t* v, float* out,
                                     std::int64_t scores, int threads);
}

namespace roofline {

/// A call; k is packed as groups of 8 keys, d x 8, and v as pack_panels() does.
/// With `pairs`, an element of q and k is two of bfloat16, and d counts pairs.
struct AttentionProblem {
    std::ptrdiff_t n, m, d, e; // e rounded up
    const float *q, *k, *v;
    float scale; // of a score, to an exponent of 2
    bool pairs;
};

/// Floats of scratch of attention_rows().
std::size_t attention_scratch(const AttentionProblem& problem);

/// totals[e][row] and weights[row] of the 48 rows from `first`, in double.
void attention_rows(const AttentionProblem& problem, std::ptrdiff_t first,
                    float* scratch, double* totals, double* weights);

} // namespace roofline
