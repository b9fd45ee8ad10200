// bench/roofline/product.h - products of packed panels, 48 rows by 8 columns.
#pragma once

#include "lanes.h"
#include "product_sizes.h"

namespace roofline {

// A tile is three row vectors by eight columns: 24 sums, three loads and eight
// broadcasts for 24 FMAs, whose twelve cycles leave the load ports half idle.
// A sum is added to every twelve cycles, so its latency of four is hidden.

using ProductTile = __m512[ProductColumns][ProductVectors];

/// tile[c][.] += sum over k < count of a[k][row] b[k][c]; a is count x 48, b is
/// count x 8.
ROOFLINE_INLINE void multiply_add(const float* a, const float* b,
                                  std::ptrdiff_t count, ProductTile& tile) {
#pragma GCC unroll 1
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        __m512 rows[ProductVectors];
#pragma GCC unroll 8
        for (int v = 0; v < ProductVectors; ++v)
            rows[v] = _mm512_load_ps(a + 16 * v);
#pragma GCC unroll 8
        for (int c = 0; c < ProductColumns; ++c) {
            const __m512 factor = _mm512_set1_ps(b[c]);
#pragma GCC unroll 8
            for (int v = 0; v < ProductVectors; ++v)
                tile[c][v] = _mm512_fmadd_ps(rows[v], factor, tile[c][v]);
        }
        a += ProductRows;
        b += ProductColumns;
    }
}

#ifdef __AVX512BF16__
/// The same where an element of a and of b is a pair of bfloat16: two products
/// an operation, added in float.
ROOFLINE_INLINE void multiply_add_pairs(const float* a, const float* b,
                                        std::ptrdiff_t count,
                                        ProductTile& tile) {
#pragma GCC unroll 1
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        __m512bh rows[ProductVectors];
#pragma GCC unroll 8
        for (int v = 0; v < ProductVectors; ++v)
            rows[v] = (__m512bh)_mm512_load_ps(a + 16 * v);
#pragma GCC unroll 8
        for (int c = 0; c < ProductColumns; ++c) {
            const __m512bh factor = (__m512bh)_mm512_set1_ps(b[c]);
#pragma GCC unroll 8
            for (int v = 0; v < ProductVectors; ++v)
                tile[c][v] = _mm512_dpbf16_ps(tile[c][v], rows[v], factor);
        }
        a += ProductRows;
        b += ProductColumns;
    }
}
#endif

/// sums[e][row] += the product of one panel: weights is count x 48, b has, for
/// each group of 8 of the `columns`, ProductTerms x 8.
ROOFLINE_INLINE void add_products(const float* weights, const float* b,
                                  std::ptrdiff_t count, std::ptrdiff_t columns,
                                  float* sums) {
    for (std::ptrdiff_t e = 0; e < columns; e += ProductColumns) {
        ProductTile tile;
#pragma GCC unroll 8
        for (int c = 0; c < ProductColumns; ++c)
#pragma GCC unroll 8
            for (int v = 0; v < ProductVectors; ++v)
                tile[c][v] = _mm512_load_ps(sums + c * ProductRows + 16 * v);
        multiply_add(weights, b, count, tile);
#pragma GCC unroll 8
        for (int c = 0; c < ProductColumns; ++c)
#pragma GCC unroll 8
            for (int v = 0; v < ProductVectors; ++v)
                _mm512_store_ps(sums + c * ProductRows + 16 * v, tile[c][v]);
        b += ProductTerms * ProductColumns;
        sums += ProductColumns * ProductRows;
    }
}

/// totals += sums, in double, and sums = 0.
ROOFLINE_INLINE void carry(float* sums, double* totals, std::ptrdiff_t count) {
    for (std::ptrdiff_t k = 0; k < count; k += 16) {
        Lanes<float>::add_to(totals + k, _mm512_load_ps(sums + k));
        _mm512_store_ps(sums + k, _mm512_setzero_ps());
    }
}

} // namespace roofline
