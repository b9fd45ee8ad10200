// bench/roofline/nearest_avx512.cpp - the extremes of squared distances.
//
// For 16 pairs: d differences, d squares, one minimum (or maximum). Which
// column a minimum came from is not followed: the smallest of each group of 48
// columns is kept, and afterwards the few groups that can hold a result are
// computed again, with the same roundings, with lanes over their columns.
//
// Of the k nearest, a threshold comes first: the k-th smallest of the minima
// of pairs of groups, which is at least the k-th smallest of all. As pairs are
// many and k is small, few more than k columns are below it: k or so groups of
// a row are computed again, and what is below goes to a short list, without a
// branch on the way. A row whose list is too short is gone through once more.

#include "candidates.h"
#include "nearest.h"
#include "processor.h"
#include "sieve.h"
#include "tile.h"

namespace roofline {

namespace {

using L = Lanes<float>;
constexpr float Infinity = __builtin_inff();

static_assert(NearestRows == 16 * TileVectors);
static_assert(NearestGroup % TileColumns == 0);
static_assert(NearestGroup % LowTileColumns == 0);

struct Smallest {
    static constexpr float Identity = Infinity;
    static ROOFLINE_INLINE __m512 join(__m512 a, __m512 b) {
        return _mm512_min_ps(a, b);
    }
};

struct Largest {
    static constexpr float Identity = -Infinity;
    static ROOFLINE_INLINE __m512 join(__m512 a, __m512 b) {
        return _mm512_max_ps(a, b);
    }
};

/// x of 64 rows as d x 64, zeros past the last.
void pack_rows(const NearestProblem& problem, std::ptrdiff_t first,
               float* packed) {
    for (int row = 0; row < NearestRows; ++row)
        for (std::ptrdiff_t k = 0; k < problem.d; ++k) {
            const std::ptrdiff_t i = first + row;
            packed[k * NearestRows + row] =
                i < problem.n ? problem.x[i * problem.d + k] : 0;
        }
}

/// The squares of one coordinate; y_k of columns that follow one another.
template <bool Begin, int Vectors, int Columns>
ROOFLINE_INLINE void add_coordinate(const float* x, const float* y,
                                    __m512 (&tile)[Columns][Vectors]) {
    __m512 row[Vectors];
#pragma GCC unroll 8
    for (int r = 0; r < Vectors; ++r)
        row[r] = L::load(x + 16 * r);
#pragma GCC unroll 16
    for (int c = 0; c < Columns; ++c) {
        const __m512 coordinate = L::all(y[c]);
#pragma GCC unroll 8
        for (int r = 0; r < Vectors; ++r) {
            const __m512 t = L::sub(row[r], coordinate);
            tile[c][r] = Begin ? L::mul(t, t) : L::fma(t, t, tile[c][r]);
        }
    }
}

/// best = join(best, squares of a group) for some vectors of rows; D is d, or 0
/// for any.
template <class Extreme, int D, int Vectors, int Columns>
ROOFLINE_INLINE void scan(const float* x, const float* group, std::ptrdiff_t d,
                          __m512* best) {
#pragma GCC unroll 1
    for (int j = 0; j < NearestGroup; j += Columns, group += Columns) {
        __m512 tile[Columns][Vectors];
        add_coordinate<true>(x, group, tile);
        if constexpr (D == 3) {
            add_coordinate<false>(x + NearestRows, group + NearestGroup, tile);
            add_coordinate<false>(x + 2 * NearestRows, group + 2 * NearestGroup,
                                  tile);
        } else {
#pragma GCC unroll 1
            for (std::ptrdiff_t k = 1; k < d; ++k)
                add_coordinate<false>(x + k * NearestRows,
                                      group + k * NearestGroup, tile);
        }
#pragma GCC unroll 16
        for (int c = 0; c < Columns; ++c)
#pragma GCC unroll 8
            for (int r = 0; r < Vectors; ++r)
                best[r] = Extreme::join(best[r], tile[c][r]);
    }
}

/// The same for all rows of a block.
template <class Extreme, int D>
ROOFLINE_INLINE void scan_rows(const float* x, const float* group,
                               std::ptrdiff_t d, bool low,
                               __m512 (&best)[TileVectors]) {
    if (low)
        for (int r = 0; r < TileVectors; ++r)
            scan<Extreme, D, 1, LowTileColumns>(x + 16 * r, group, d, best + r);
    else
        scan<Extreme, D, TileVectors, TileColumns>(x, group, d, best);
}

/// Calls each(g, extremes of the group g) for all groups.
template <class Extreme, class Each>
ROOFLINE_INLINE void scan_groups(const NearestProblem& problem, const float* x,
                                 Each each) {
    const std::ptrdiff_t stride = NearestGroup * problem.d;
    const bool low = is_zen4();
    for (std::ptrdiff_t g = 0; g < problem.count(); ++g) {
        __m512 best[TileVectors];
        for (auto& v : best)
            v = L::all(Extreme::Identity);
        if (problem.d == 3)
            scan_rows<Extreme, 3>(x, problem.groups + g * stride, 3, low, best);
        else
            scan_rows<Extreme, 0>(x, problem.groups + g * stride, problem.d,
                                  low, best);
        each(g, best);
    }
}

/// For each row of a vector, the count-th smallest of the minima of pairs;
/// count is at most Kept.
template <int Kept>
__m512 threshold(const float* minima, std::ptrdiff_t groups,
                 std::ptrdiff_t count) {
    __m512 least[Kept];
    for (auto& v : least)
        v = L::all(Infinity);
    for (std::ptrdiff_t g = 0; g < groups; g += 2) {
        __m512 value = L::load(minima + g * NearestRows);
        if (g + 1 < groups)
            value =
                _mm512_min_ps(value, L::load(minima + (g + 1) * NearestRows));
#pragma GCC unroll 16
        for (int k = 0; k < Kept; ++k) {
            const __m512 low = _mm512_min_ps(least[k], value);
            value = _mm512_max_ps(least[k], value);
            least[k] = low;
        }
    }
    return least[count - 1];
}

/// Which groups of which rows have a minimum of at most the limit of the row:
/// group * NearestRows + row, by group. Returns how many.
std::ptrdiff_t list_groups(const float* minima, std::ptrdiff_t groups,
                           std::ptrdiff_t rows, const float* limits,
                           std::int32_t* events) {
    const __m512i lanes =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t g = 0; g < groups; ++g)
        for (int r = 0; r < TileVectors && 16 * r < rows; ++r) {
            const std::ptrdiff_t first = g * NearestRows + 16 * r;
            const std::ptrdiff_t left = rows - 16 * r;
            const __mmask16 there =
                left >= 16 ? 0xffff : __mmask16((1u << left) - 1);
            const __mmask16 found =
                _mm512_mask_cmp_ps_mask(there, L::load(minima + first),
                                        L::load(limits + 16 * r), _CMP_LE_OQ);
            const __m512i numbers =
                _mm512_add_epi32(_mm512_set1_epi32(int(first)), lanes);
            _mm512_storeu_si512(events + count,
                                _mm512_maskz_compress_epi32(found, numbers));
            count += __builtin_popcount(found);
        }
    return count;
}

/// One row with more candidates than a list holds; scratch has as many floats
/// as there are packed columns, twice, and 32 more.
void order_all(const NearestProblem& problem, std::ptrdiff_t i, float limit,
               std::ptrdiff_t count, float* scratch, std::int64_t* out) {
    const std::ptrdiff_t most = problem.count() * NearestGroup;
    auto* columns = reinterpret_cast<std::int32_t*>(scratch + most + 16);
    Candidates found = {scratch, columns, most, 0};
    for (std::ptrdiff_t g = 0; g < problem.count(); ++g)
        found.add(problem, problem.x + i * problem.d, g, L::all(limit));
    order_many(found, count, out);
}

} // namespace

std::size_t nearest_scratch(const NearestProblem& problem) {
    // x, and its words, the minima of all groups, and as many events as minima
    // or, at another time, two numbers for each column.
    const std::ptrdiff_t columns = problem.count() * NearestGroup;
    return NearestRows * (2 * problem.d + 1 + problem.count()) + 2 * columns +
           32;
}

void argmin_rows(const NearestProblem& problem, std::ptrdiff_t first,
                 float* scratch, std::int64_t* out) {
    pack_rows(problem, first, scratch);
    __m512 least[TileVectors];
    __m512i where[TileVectors];
    for (int r = 0; r < TileVectors; ++r) {
        least[r] = L::all(Infinity);
        where[r] = _mm512_setzero_si512();
    }
    scan_groups<Smallest>(
        problem, scratch, [&](std::ptrdiff_t g, __m512(&best)[TileVectors]) {
            for (int r = 0; r < TileVectors; ++r) {
                const __mmask16 less =
                    _mm512_cmp_ps_mask(best[r], least[r], _CMP_LT_OQ);
                least[r] = _mm512_min_ps(least[r], best[r]);
                where[r] = _mm512_mask_mov_epi32(where[r], less,
                                                 _mm512_set1_epi32(int(g)));
            }
        });
    alignas(64) float limits[NearestRows];
    alignas(64) std::int32_t groups[NearestRows];
    for (int r = 0; r < TileVectors; ++r) {
        _mm512_store_ps(limits + 16 * r, least[r]);
        _mm512_store_si512(groups + 16 * r, where[r]);
    }
    const std::ptrdiff_t rows = smaller(NearestRows, problem.n - first);
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
        float squares[NearestGroup + 16];
        std::int32_t columns[NearestGroup + 16];
        Candidates found = {squares, columns, NearestGroup, 0};
        found.add(problem, problem.x + (first + row) * problem.d, groups[row],
                  L::all(limits[row]));
        out[row] = columns[0];
    }
}

void max_rows(const NearestProblem& problem, std::ptrdiff_t first,
              float* scratch, float* out) {
    pack_rows(problem, first, scratch);
    __m512 most[TileVectors];
    for (auto& v : most)
        v = L::all(-Infinity);
    scan_groups<Largest>(problem, scratch,
                         [&](std::ptrdiff_t, __m512(&best)[TileVectors]) {
                             for (int r = 0; r < TileVectors; ++r)
                                 most[r] = _mm512_max_ps(most[r], best[r]);
                         });
    const std::ptrdiff_t rows = smaller(NearestRows, problem.n - first);
    for (int r = 0; r < TileVectors; ++r) {
        const std::ptrdiff_t left = rows - 16 * r;
        const __mmask16 mask = left >= 16 ? 0xffff
                               : left > 0 ? __mmask16((1u << left) - 1)
                                          : 0;
        _mm512_mask_storeu_ps(out + 16 * r, mask, most[r]);
    }
}

void nearest_rows(const NearestProblem& problem, std::ptrdiff_t first,
                  std::ptrdiff_t count, float* scratch, std::int64_t* out) {
    const std::ptrdiff_t groups = problem.count();
    auto* words =
        reinterpret_cast<std::uint32_t*>(scratch + NearestRows * problem.d);
    float* minima = scratch + NearestRows * (2 * problem.d + 1);
    auto* events =
        reinterpret_cast<std::int32_t*>(minima + NearestRows * groups);
    pack_rows(problem, first, scratch);
    Widening by;
    if (problem.sieve)
        by = sieve_minima(problem, scratch, words, minima);
    else
        scan_groups<Smallest>(
            problem, scratch,
            [&](std::ptrdiff_t g, __m512(&best)[TileVectors]) {
                for (int r = 0; r < TileVectors; ++r)
                    _mm512_store_ps(minima + g * NearestRows + 16 * r, best[r]);
            });
    alignas(64) float limits[NearestRows], of_groups[NearestRows];
    for (int r = 0; r < TileVectors; ++r)
        _mm512_store_ps(
            limits + 16 * r,
            count <= 10
                ? threshold<10>(minima + 16 * r, groups, count)
                : threshold<MostNearest>(minima + 16 * r, groups, count));
    if (problem.sieve) {
        widen(by, limits, limits);
        widen(by, limits, of_groups);
    }
    const std::ptrdiff_t rows = smaller(NearestRows, problem.n - first);
    const std::ptrdiff_t found = list_groups(
        minima, groups, rows, problem.sieve ? of_groups : limits, events);
    Lists lists;
    for (std::ptrdiff_t k = 0; k < found; ++k) {
        const std::ptrdiff_t row = events[k] % NearestRows;
        lists.of(row).add(problem, problem.x + (first + row) * problem.d,
                          events[k] / NearestRows, L::all(limits[row]));
    }
    for (std::ptrdiff_t row = 0; row < rows; ++row, out += count) {
        if (lists.of(row).count <= 16)
            order_few(lists.of(row), count, out);
        else
            order_all(problem, first + row, limits[row], count,
                      reinterpret_cast<float*>(events), out);
    }
}

} // namespace roofline
