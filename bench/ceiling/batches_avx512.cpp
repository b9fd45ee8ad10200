// bench/ceiling/batches_avx512.cpp - two row vectors against all columns.
//
// Columns are read where they are: every operand of theirs is a broadcast from
// memory. Two vectors of rows and an unrolled loop give the processor enough
// independent chains; pipelining by hand (stream.h) would fill and empty its
// stages for thirty columns only.

#include "batches.h"
#include "lanes.h"

namespace ceiling {

namespace {

using L = Lanes<float>;

constexpr std::ptrdiff_t PanelColumns = 256; // then the sum goes on in double

__mmask16 first_lanes(std::ptrdiff_t count) {
    return count >= 16 ? 0xffff : count > 0 ? __mmask16((1u << count) - 1) : 0;
}

/// Sixteen rows, or as many as are left, one coordinate a vector.
struct Rows {
    __m512 x[3];

    /// (x y z x …) in three vectors, two permutations for each coordinate.
    CEILING_INLINE void load(const float* source, std::ptrdiff_t count) {
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

CEILING_INLINE __m512 term(const Rows& rows, const float* y, float b,
                           float scale, __m512 sum) {
    const __m512 s = L::sub(rows.x[0], L::all(y[0]));
    const __m512 t = L::sub(rows.x[1], L::all(y[1]));
    const __m512 u = L::sub(rows.x[2], L::all(y[2]));
    const __m512 d2 = L::fma(u, u, L::fma(t, t, L::mul(s, s)));
    return L::fma(exp2<float>(L::mul(d2, L::all(scale))), L::all(b), sum);
}

/// Vectors vectors of rows, the last of `last` rows.
template <int Vectors>
CEILING_INLINE void rows_of_batch(const BatchProblem& problem,
                                  std::ptrdiff_t first, std::ptrdiff_t last) {
    Rows rows[Vectors];
    for (int v = 0; v < Vectors; ++v)
        rows[v].load(problem.x + 3 * (first + 16 * v),
                     v + 1 < Vectors ? 16 : last);
    alignas(64) double totals[16 * Vectors] = {};
    for (std::ptrdiff_t j = 0; j < problem.m; j += PanelColumns) {
        const std::ptrdiff_t left = problem.m - j;
        const std::ptrdiff_t end =
            j + (left < PanelColumns ? left : PanelColumns);
        __m512 sums[Vectors];
        for (auto& sum : sums)
            sum = L::zero();
#pragma GCC unroll 2
        for (std::ptrdiff_t k = j; k < end; ++k)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v)
                sums[v] = term(rows[v], problem.y + 3 * k, problem.b[k],
                               problem.scale, sums[v]);
        for (int v = 0; v < Vectors; ++v)
            L::add_to(totals + 16 * v, sums[v]);
    }
    for (int v = 0; v < Vectors; ++v) {
        const __m256 low = _mm512_cvtpd_ps(_mm512_load_pd(totals + 16 * v));
        const __m256 high =
            _mm512_cvtpd_ps(_mm512_load_pd(totals + 16 * v + 8));
        const __m512 sum =
            _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
        _mm512_mask_storeu_ps(problem.out + first + 16 * v,
                              first_lanes(v + 1 < Vectors ? 16 : last), sum);
    }
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

} // namespace ceiling
