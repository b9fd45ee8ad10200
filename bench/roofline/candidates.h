// bench/roofline/candidates.h - columns that may be among the nearest of a row.
//
// Groups are computed again with the roundings of the scan, with lanes over
// their columns; what is below a limit is added to a list without a branch.
#pragma once

#include "lanes.h"
#include "nearest.h"

namespace roofline {

constexpr int GroupVectors = NearestGroup / 16;

inline std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) {
    return a < b ? a : b;
}

/// The squares of one row with a group, with the roundings of scan().
ROOFLINE_INLINE void measure(const NearestProblem& problem, const float* x,
                             std::ptrdiff_t g,
                             __m512 (&squares)[GroupVectors]) {
    const float* y = problem.groups + g * NearestGroup * problem.d;
    __m512 sums[GroupVectors];
#pragma GCC unroll 3
    for (int v = 0; v < GroupVectors; ++v) {
        const __m512 t = Lanes<float>::sub(Lanes<float>::all(x[0]),
                                           Lanes<float>::load(y + 16 * v));
        sums[v] = Lanes<float>::mul(t, t);
    }
    for (std::ptrdiff_t k = 1; k < problem.d; ++k) {
        y += NearestGroup;
#pragma GCC unroll 3
        for (int v = 0; v < GroupVectors; ++v) {
            const __m512 t = Lanes<float>::sub(Lanes<float>::all(x[k]),
                                               Lanes<float>::load(y + 16 * v));
            sums[v] = Lanes<float>::fma(t, t, sums[v]);
        }
    }
#pragma GCC unroll 3
    for (int v = 0; v < GroupVectors; ++v)
        squares[v] = sums[v];
}

/// The columns of a group that are there.
ROOFLINE_INLINE __mmask16 inside(const NearestProblem& problem,
                                 std::ptrdiff_t column) {
    const std::ptrdiff_t left = problem.m - column;
    return left >= 16 ? 0xffff : left > 0 ? __mmask16((1u << left) - 1) : 0;
}

/// Columns of one row and their squares, in the order of the columns. Has room
/// for 16 beyond the capacity; counts all.
struct Candidates {
    float* squares;
    std::int32_t* columns;
    std::ptrdiff_t capacity, count;

    /// Adds what is at most `limit` of a group.
    ROOFLINE_INLINE void add(const NearestProblem& problem, const float* x,
                             std::ptrdiff_t g, __m512 limit) {
        const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                                 10, 11, 12, 13, 14, 15);
        __m512 d2[GroupVectors];
        measure(problem, x, g, d2);
#pragma GCC unroll 3
        for (int v = 0; v < GroupVectors; ++v) {
            const std::ptrdiff_t column = g * NearestGroup + 16 * v;
            const __mmask16 found = _mm512_mask_cmp_ps_mask(
                inside(problem, column), d2[v], limit, _CMP_LE_OQ);
            const __m512i numbers =
                _mm512_add_epi32(_mm512_set1_epi32(int(column)), places);
            const std::ptrdiff_t end = smaller(count, capacity);
            _mm512_storeu_ps(squares + end,
                             _mm512_maskz_compress_ps(found, d2[v]));
            _mm512_storeu_si512(columns + end,
                                _mm512_maskz_compress_epi32(found, numbers));
            count += __builtin_popcount(found);
        }
    }
};

/// The order of at most 16: how many come before each.
inline void order_few(const Candidates& found, std::ptrdiff_t count,
                      std::int64_t* out) {
    const __mmask16 there = __mmask16((1u << found.count) - 1);
    const __m512 all = _mm512_maskz_loadu_ps(there, found.squares);
    for (std::ptrdiff_t k = 0; k < found.count; ++k) {
        const __m512 own = Lanes<float>::all(found.squares[k]);
        const unsigned less =
            _mm512_mask_cmp_ps_mask(there, all, own, _CMP_LT_OQ);
        const unsigned equal =
            _mm512_mask_cmp_ps_mask(there, all, own, _CMP_EQ_OQ);
        const unsigned before = less | (equal & ((1u << k) - 1));
        const int rank = __builtin_popcount(before);
        if (rank < count)
            out[rank] = found.columns[k];
    }
}

/// The same for any number, by insertion.
inline void order_many(const Candidates& found, std::ptrdiff_t count,
                       std::int64_t* out) {
    float kept[MostNearest];
    std::ptrdiff_t size = 0;
    for (std::ptrdiff_t k = 0; k < found.count; ++k) {
        const float square = found.squares[k];
        if (size == count && !(square < kept[size - 1]))
            continue;
        std::ptrdiff_t place = size < count ? size++ : size - 1;
        for (; place > 0 && square < kept[place - 1]; --place) {
            kept[place] = kept[place - 1];
            out[place] = out[place - 1];
        }
        kept[place] = square;
        out[place] = found.columns[k];
    }
}

/// A short list for each row of a block.
class Lists {
public:
    Lists() {
        for (int row = 0; row < NearestRows; ++row)
            lists_[row] = {squares_[row], columns_[row], 16, 0};
    }
    Candidates& of(std::ptrdiff_t row) { return lists_[row]; }

private:
    float squares_[NearestRows][32];
    std::int32_t columns_[NearestRows][32];
    Candidates lists_[NearestRows];
};

} // namespace roofline
