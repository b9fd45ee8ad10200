// bench/roofline/tile.h - any number of coordinates, in tiles.
#pragma once

#include "lanes.h"

namespace roofline {

// A tile is Vectors row vectors by Columns columns: their squared distances are
// in registers while the coordinates go by, then come as many exponentials,
// which overlap with the distances of the next tile. A tile of 4 x 6 loads 10
// values for 24 differences, so two load ports are never the limit (a 1 x 12
// tile loads 13 for 12, and they are). The tile alone, on a Zen 5, with a
// constant D, in cycles for 16 float pairs:
//
//            1x12   1x16   2x6    2x10   4x4    4x6    bound
//   D = 16   13.2   12.3   13.2   13.0   12.1   11.9   11.0
//   D = 64   38.2   37.5   37.9   36.2   36.2   35.9   35.0
//
// Unrolling the loop over coordinates, or another layout of y, gains nothing.
// On a Zen 4 a broadcast costs as much as a difference, unless it is an operand
// that one instruction reads: there a tile has one row vector.

constexpr int TileVectors = 4;
constexpr int TileColumns = 6;
constexpr int LowTileColumns = 16; // of one vector
constexpr int MostPanelColumns = 256;

/// Adds the square of one coordinate's difference, or begins with it.
template <class T, bool Begin, int Vectors, int Columns>
ROOFLINE_INLINE void
add_squares(const T* x, const T* y, std::ptrdiff_t d,
            typename Lanes<T>::Vector (&d2)[Columns][Vectors]) {
    using L = Lanes<T>;
    typename L::Vector row[Vectors];
#pragma GCC unroll 8
    for (int r = 0; r < Vectors; ++r)
        row[r] = L::load(x + r * L::Width);
#pragma GCC unroll 16
    for (int c = 0; c < Columns; ++c) {
        auto coordinate = L::all(y[c * d]);
#pragma GCC unroll 8
        for (int r = 0; r < Vectors; ++r) {
            auto t = L::sub(row[r], coordinate);
            d2[c][r] = Begin ? L::mul(t, t) : L::fma(t, t, d2[c][r]);
        }
    }
}

/// sums[row] += sum over one panel of exp2(scale |x - y|^2) b.
///
/// x is d x (Vectors * Width), y is count x d; count is a multiple of Columns,
/// at most MostPanelColumns; d >= 1.
template <class T, int Vectors, int Columns>
ROOFLINE_INLINE void tile_panel(const T* x, const T* y, const T* b, int count,
                                std::ptrdiff_t d, T scale, double* sums) {
    using L = Lanes<T>;
    typename L::Vector sum[Vectors];
    for (auto& v : sum)
        v = L::zero();
    for (int j = 0; j < count; j += Columns, y += Columns * d) {
        typename L::Vector d2[Columns][Vectors];
        add_squares<T, true, Vectors, Columns>(x, y, d, d2);
#pragma GCC unroll 1
        for (std::ptrdiff_t k = 1; k < d; ++k)
            add_squares<T, false, Vectors, Columns>(x + k * Vectors * L::Width,
                                                    y + k, d, d2);
#pragma GCC unroll 16
        for (int c = 0; c < Columns; ++c)
#pragma GCC unroll 8
            for (int r = 0; r < Vectors; ++r)
                sum[r] = L::fma(exp2<T>(L::mul(d2[c][r], L::all(scale))),
                                L::all(b[j + c]), sum[r]);
    }
    for (int r = 0; r < Vectors; ++r)
        L::add_to(sums + r * L::Width, sum[r]);
}

} // namespace roofline
