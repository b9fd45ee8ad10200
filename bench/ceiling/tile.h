// bench/ceiling/tile.h - any number of coordinates, tiles of 4 x 6 vectors.
#pragma once

#include "lanes.h"

namespace ceiling {

// A tile is TileVectors row vectors by TileColumns columns: 24 squared
// distances in registers while the coordinates go by, then 24 exponentials,
// which overlap with the distances of the next tile. Per coordinate it loads
// 10 values for 24 differences, so the two load ports are never the limit (a
// 1 x 12 tile loads 13 for 12, and they are). The tile alone, with a constant
// D, in cycles for 16 float pairs:
//
//            1x12   1x16   2x6    2x10   4x4    4x6    bound
//   D = 16   13.2   12.3   13.2   13.0   12.1   11.9   11.0
//   D = 64   38.2   37.5   37.9   36.2   36.2   35.9   35.0
//
// Unrolling the loop over coordinates, or another layout of y, gains nothing.

constexpr int TileVectors = 4;
constexpr int TileColumns = 6;
constexpr int TilePanelColumns = 42 * TileColumns; // at most 256

/// Adds the square of one coordinate's difference, or begins with it.
template <class T, bool Begin>
CEILING_INLINE void
add_squares(const T* x, const T* y, std::ptrdiff_t d,
            typename Lanes<T>::Vector (&d2)[TileColumns][TileVectors]) {
    using L = Lanes<T>;
    typename L::Vector row[TileVectors];
#pragma GCC unroll 8
    for (int r = 0; r < TileVectors; ++r)
        row[r] = L::load(x + r * L::Width);
#pragma GCC unroll 8
    for (int c = 0; c < TileColumns; ++c) {
        auto coordinate = L::all(y[c * d]);
#pragma GCC unroll 8
        for (int r = 0; r < TileVectors; ++r) {
            auto t = L::sub(row[r], coordinate);
            d2[c][r] = Begin ? L::mul(t, t) : L::fma(t, t, d2[c][r]);
        }
    }
}

/// sums[row] += sum over one panel of exp2(scale |x - y|^2) b.
///
/// x is d x (TileVectors * Width), y is count x d; count is a multiple of
/// TileColumns, at most TilePanelColumns; d >= 1.
template <class T>
CEILING_INLINE void tile_panel(const T* x, const T* y, const T* b, int count,
                               std::ptrdiff_t d, T scale, double* sums) {
    using L = Lanes<T>;
    typename L::Vector sum[TileVectors];
    for (auto& v : sum)
        v = L::zero();
    for (int j = 0; j < count; j += TileColumns, y += TileColumns * d) {
        typename L::Vector d2[TileColumns][TileVectors];
        add_squares<T, true>(x, y, d, d2);
#pragma GCC unroll 1
        for (std::ptrdiff_t k = 1; k < d; ++k)
            add_squares<T, false>(x + k * TileVectors * L::Width, y + k, d, d2);
#pragma GCC unroll 8
        for (int c = 0; c < TileColumns; ++c)
#pragma GCC unroll 8
            for (int r = 0; r < TileVectors; ++r)
                sum[r] = L::fma(exp2<T>(L::mul(d2[c][r], L::all(scale))),
                                L::all(b[j + c]), sum[r]);
    }
    for (int r = 0; r < TileVectors; ++r)
        L::add_to(sums + r * L::Width, sum[r]);
}

} // namespace ceiling
