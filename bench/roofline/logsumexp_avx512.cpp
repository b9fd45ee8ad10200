// bench/roofline/logsumexp_avx512.cpp - a stream with a reference for each row.
//
// The exponent is scale |x - y|^2 - r, one FMA where the Gaussian sum has a
// product; the factor b of a column is 1. r is the largest exponent over the
// first columns, so never above the largest of all, and nothing that matters
// is lost to underflow. Terms above 1 have exponents that are rounded more: a
// run of 2048 columns whose sum is above 2^14 is done again with r raised,
// which is rare. An exponent below 14 is off by 5e-7 at most.

#include "logsumexp.h"
#include "pack_stream.h"

namespace roofline {

namespace {

using L = Lanes<float>;

constexpr float Scale = -0x1.715476p-1f; // -log2(e) / 2
constexpr float Infinity = __builtin_inff();
constexpr int FirstColumns = 64;
constexpr double MostTerms = 0x1p14; // 8 for each column of a run

std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) {
    return a < b ? a : b;
}

void pack_vector(const LogProblem& problem, std::ptrdiff_t first, float* x) {
    for (int lane = 0; lane < L::Width; ++lane)
        for (int k = 0; k < 3; ++k) {
            const std::ptrdiff_t i = first + lane;
            x[k * L::Width + lane] = i < problem.n ? problem.x[3 * i + k] : 0;
        }
}

/// The larger of the reference and of all exponents of these columns; 0 where
/// that is -inf.
__m512 raised(const float* x, const float* columns, int count,
              __m512 reference) {
    __m512 least = L::all(Infinity);
    for (int j = 0; j < count; ++j) {
        const float* y = columns + j * ColumnSize;
        __m512 d2 = L::zero();
        for (int k = 0; k < 3; ++k) {
            const __m512 t = L::sub(L::load(x + k * L::Width), L::all(y[k]));
            d2 = L::fma(t, t, d2);
        }
        least = _mm512_min_ps(d2, least); // a NaN leaves least
    }
    const __m512 most = _mm512_max_ps(L::mul(least, L::all(Scale)), reference);
    return _mm512_mask_mov_ps(
        most, _mm512_cmp_ps_mask(most, L::all(-Infinity), _CMP_EQ_OQ),
        L::zero());
}

/// sums *= exp2(old - reference).
void rescale(__m512 old, __m512 reference, double* sums) {
    alignas(64) float factors[L::Width];
    _mm512_store_ps(factors, exp2<float>(L::sub(old, reference)));
    for (int lane = 0; lane < L::Width; ++lane)
        sums[lane] *= factors[lane];
}

/// Whether a term of a run may have been above MostTerms, or is NaN: such is
/// the factor 0 of a margin times an infinite term.
bool is_too_large(const double* before, const double* sums) {
    unsigned large = 0;
    for (int k = 0; k < L::Width; k += 8) {
        const __m512d added =
            _mm512_sub_pd(_mm512_load_pd(sums + k), _mm512_load_pd(before + k));
        large |=
            _mm512_cmp_pd_mask(added, _mm512_set1_pd(MostTerms), _CMP_NLE_UQ);
    }
    return large != 0;
}

/// A run of columns for one vector of rows.
void add_run(const float* x, const float* columns, int count, int padded,
             float* reference, double* sums) {
    alignas(64) double before[L::Width];
    for (int lane = 0; lane < L::Width; ++lane)
        before[lane] = sums[lane];
    stream(row_of<float, true>(x, Scale, L::Q, reference), columns, padded,
           sums);
    if (!is_too_large(before, sums))
        return;
    const __m512 old = L::load(reference);
    const __m512 now = raised(x, columns, count, old);
    _mm512_store_ps(reference, now);
    for (int lane = 0; lane < L::Width; ++lane)
        sums[lane] = before[lane];
    rescale(old, now, sums);
    stream(row_of<float, true>(x, Scale, L::Q, reference), columns, padded,
           sums);
}

} // namespace

std::size_t logsumexp_scratch() {
    return 3 * LogRows + StreamSize;
}

void logsumexp_rows(const LogProblem& problem, std::ptrdiff_t first,
                    float* scratch, float* references, double* sums) {
    float* columns = scratch + 3 * LogRows + Lag * ColumnSize;
    const std::ptrdiff_t rows = smaller(LogRows, problem.n - first);
    for (std::ptrdiff_t k = 0; k < LogRows; ++k)
        sums[k] = references[k] = 0;
    for (std::ptrdiff_t i = 0; i < rows; i += L::Width)
        pack_vector(problem, first + i, scratch + 3 * i);
    for (std::ptrdiff_t j = 0; j < problem.m; j += StreamColumns) {
        const int count = int(smaller(StreamColumns, problem.m - j));
        const float* y = problem.y + 3 * j;
        const float* none = nullptr;
        const int padded = pack_stream(y, none, count, y, columns);
        for (std::ptrdiff_t i = 0; i < rows; i += L::Width) {
            const float* x = scratch + 3 * i;
            if (j == 0)
                _mm512_store_ps(references + i,
                                raised(x, columns,
                                       int(smaller(count, FirstColumns)),
                                       L::all(-Infinity)));
            add_run(x, columns, count, padded, references + i, sums + i);
        }
    }
}

} // namespace roofline
