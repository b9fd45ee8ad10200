// bench/roofline/batches_avx512.cpp - two row vectors against all columns.
//
// Columns are read where they are: every operand of theirs is a broadcast from
// memory. The chain of a term is about 60 cycles long, and the schedulers do
// not hold as many terms as that takes. Pipelining by hand (stream.h) would
// fill and empty its stages for thirty columns only, so the chain is cut once:
// the exponents of 32 columns are stored, then the exponentials begin.

#include "batches.h"
#include "block.h"
#include "lanes.h"

namespace roofline {

namespace {

using L = Lanes<float>;

constexpr std::ptrdiff_t PanelColumns = 256; // then the sum goes on in double
constexpr std::ptrdiff_t ChunkColumns = 32;  // whose exponents wait in L1

std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) {
    return a < b ? a : b;
}

__mmask16 first_lanes(std::ptrdiff_t count) {
    return count >= 16 ? 0xffff : count > 0 ? __mmask16((1u << count) - 1) : 0;
}

/// Sixteen rows, or as many as are left, one coordinate a vector.
struct Rows {
    __m512 x[3];

    /// (x y z x …) in three vectors, two permutations for each coordinate.
    ROOFLINE_INLINE void load(const float* source, std::ptrdiff_t count) {
        const std::ptrdiff_t floats = 3 * count;
        const __m512 a = _mm512_maskz_loadu_ps(first_lanes(floats), source);
        const __m512 b =
            _mm512_maskz_loadu_ps(first_lanes(floats - 16), source + 16);
        const __m512 c =
            _mm512_maskz_loadu_ps(first_lanes(floats - 32), source + 32);
        const __m512i triple = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24,
                                                 27, 30, 33, 36, 39, 42, 45);
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
            // Elements from 32 are in c; indices count modulo 32 and 16.
            const __m512i place =
                _mm512_add_epi32(triple, _mm512_set1_epi32(k));
            const __mmask16 in_c = __mmask16(0xffff << ((34 - k) / 3));
            const __m512 low = _mm512_permutex2var_ps(a, place, b);
            x[k] = _mm512_mask_permutexvar_ps(low, in_c, place, c);
        }
    }
};

/// The argument of exp2 for one column.
ROOFLINE_INLINE __m512 exponent(const Rows& rows, const float* y, float scale) {
    const __m512 s = L::sub(rows.x[0], L::all(y[0]));
    const __m512 t = L::sub(rows.x[1], L::all(y[1]));
    const __m512 u = L::sub(rows.x[2], L::all(y[2]));
    const __m512 d2 = L::fma(u, u, L::fma(t, t, L::mul(s, s)));
    return L::mul(d2, L::all(scale));
}

/// sums += the terms of at most ChunkColumns columns.
template <int Vectors>
ROOFLINE_INLINE void add_chunk(const Rows (&rows)[Vectors], const float* y,
                               const float* b, std::ptrdiff_t count,
                               float scale, __m512 (&sums)[Vectors]) {
    alignas(64) float exponents[ChunkColumns][Vectors][16];
#pragma GCC unroll 2
    for (std::ptrdiff_t k = 0; k < count; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
            _mm512_store_ps(exponents[k][v],
                            exponent(rows[v], y + 3 * k, scale));
#pragma GCC unroll 2
    for (std::ptrdiff_t k = 0; k < count; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
            sums[v] = L::fma(exp2<float>(L::load(exponents[k][v])),
                             L::all(b[k]), sums[v]);
}

/// sums = the terms of at most PanelColumns columns.
template <int Vectors>
ROOFLINE_INLINE void add_panel(const Rows (&rows)[Vectors],
                               const BatchProblem& problem, Range columns,
                               __m512 (&sums)[Vectors]) {
    for (auto& sum : sums)
        sum = L::zero();
    for (std::ptrdiff_t k = columns.begin; k < columns.end; k += ChunkColumns)
        add_chunk(rows, problem.y + 3 * k, problem.b + k,
                  smaller(ChunkColumns, columns.end - k), problem.scale, sums);
}

/// Sixteen doubles in float.
__m512 rounded(const double* totals) {
    const __m256 low = _mm512_cvtpd_ps(_mm512_load_pd(totals));
    const __m256 high = _mm512_cvtpd_ps(_mm512_load_pd(totals + 8));
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/// Vectors vectors of rows, the last of `last` rows.
template <int Vectors>
ROOFLINE_INLINE void rows_of_batch(const BatchProblem& problem,
                                   std::ptrdiff_t first, std::ptrdiff_t last) {
    Rows rows[Vectors];
    for (int v = 0; v < Vectors; ++v)
        rows[v].load(problem.x + 3 * (first + 16 * v),
                     v + 1 < Vectors ? 16 : last);
    __m512 sums[Vectors];
    if (problem.m <= PanelColumns) {
        add_panel(rows, problem, {0, problem.m}, sums);
    } else {
        alignas(64) double totals[16 * Vectors] = {};
        for (std::ptrdiff_t j = 0; j < problem.m; j += PanelColumns) {
            add_panel(rows, problem, {j, smaller(j + PanelColumns, problem.m)},
                      sums);
            for (int v = 0; v < Vectors; ++v)
                L::add_to(totals + 16 * v, sums[v]);
        }
        for (int v = 0; v < Vectors; ++v)
            sums[v] = rounded(totals + 16 * v);
    }
    for (int v = 0; v < Vectors; ++v)
        _mm512_mask_storeu_ps(problem.out + first + 16 * v,
                              first_lanes(v + 1 < Vectors ? 16 : last),
                              sums[v]);
}

} // namespace

void batch(const BatchProblem& problem) {
    for (std::ptrdiff_t i = 0; i < problem.n; i += 32) {
        const std::ptrdiff_t left = problem.n - i;
        if (left > 16)
            rows_of_batch<2>(problem, i, left < 32 ? left - 16 : 16);
        else
            rows_of_batch<1>(problem, i, left);
    }
}

} // namespace roofline
