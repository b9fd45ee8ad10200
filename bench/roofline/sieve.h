// bench/roofline/sieve.h - squared distances by products of bf16, which bound
// those of the few nearest of long vectors.
//
// With x' and y' the nearest bf16 of x - c and y - c, c being the first column,
// | |x - y| - |x' - y'| | <= |x - c - x'| + |y - c - y'|.
#pragma once

#include "nearest.h"

namespace roofline {

constexpr std::ptrdiff_t SieveLeastCoordinates = 32;

/// Words of two coordinates.
constexpr std::ptrdiff_t sieve_words(std::ptrdiff_t d) {
    return (d + 1) / 2;
}

/// All columns rounded to bf16, in groups: words x NearestGroup, and |y'|²/2 of
/// each; numbers no less than the longest y' and the largest |y - c - y'|.
struct NearestSieve {
    const std::uint32_t* words;
    const float* halves;
    float length, error;
};
/// Packs group g. `length` and `error` are raised to what they have to be.
void pack_sieve(const NearestProblem& problem, std::ptrdiff_t g,
                std::uint32_t* words, float* halves, float& length,
                float& error);

/// By how much squares of rows are widened.
struct Widening {
    alignas(64) float error[NearestRows], slack[NearestRows];
    float rounded;
};
/// The smallest |x' - y'|² of each group, of NearestRows rows each, of rows
/// packed as d x NearestRows; `words` is scratch for theirs.
Widening sieve_minima(const NearestProblem& problem, const float* rows,
                      std::uint32_t* words, float* minima);
/// No less than any |x - y|² as it would be rounded, where |x' - y'|² is at
/// most `squares`; and the reverse.
void widen(const Widening& by, const float* squares, float* out);

} // namespace roofline
