// bench/roofline/rows_stream.h - three coordinates, several row vectors against
// a stream.
#pragma once

#include "pack_stream.h"

namespace roofline {

// Where multiplications and additions have ports of their own, as on Zen 5, a
// stage an operation (stream.h) costs more moves than it saves waiting. Here
// there are three stages: |x - y|^2, its exponent, then 2^u and the sum; each
// works on the column before the one of the stage ahead of it. The chain of
// 2^u is hidden by those of the other rows.

constexpr int StreamRows = 4;
constexpr int StageLag = 2; // columns between the first stage and the last

/// sums[lane] += sum over the columns of exp2(scale |x - y|^2) b, of Rows
/// vectors.
///
/// x is Rows x 3 x Width; columns as for stream(), count of any size.
template <class T, int Rows>
ROOFLINE_INLINE void stream_rows(const T* x, T scale, const T* columns,
                                 int count, double* sums) {
    using L = Lanes<T>;
    using V = typename L::Vector;
    V rows[Rows][3], d2[Rows], u[Rows];
    const V scales = L::all(scale), magic = L::all(L::Magic);
    for (int r = 0; r < Rows; ++r) {
        for (int k = 0; k < 3; ++k)
            rows[r][k] = L::load(x + (3 * r + k) * L::Width);
        d2[r] = u[r] = L::zero();
    }
    for (int left = count + StageLag; left > 0; left -= PanelColumns) {
        V sum[Rows];
        for (int r = 0; r < Rows; ++r)
            sum[r] = L::zero();
        const int panel = left < PanelColumns ? left : PanelColumns;
        const T* end = columns + panel * ColumnSize;
        for (; columns != end; columns += ColumnSize) {
            const V y0 = L::all(columns[0]), y1 = L::all(columns[1]);
            const V y2 = L::all(columns[2]);
            const V b = L::all(columns[3 - StageLag * ColumnSize]);
#pragma GCC unroll 4
            for (int r = 0; r < Rows; ++r) {
                const V t = L::add_down(u[r], magic);
                const V f = L::fraction(u[r]);
                const V first = L::sub(rows[r][0], y0);
                const V second = L::sub(rows[r][1], y1);
                const V third = L::sub(rows[r][2], y2);
                const V w = L::look_up(t);
                const V next_u = L::mul(d2[r], scales);
                d2[r] = L::fma(second, second, L::mul(first, first));
                const V e = power<T>(f, w);
                d2[r] = L::fma(third, third, d2[r]);
                sum[r] = L::fma(L::scale(e, u[r]), b, sum[r]);
                u[r] = next_u;
            }
        }
        for (int r = 0; r < Rows; ++r)
            L::add_to(sums + r * L::Width, sum[r]);
    }
}

} // namespace roofline
