// bench/roofline/pack_stream.h - columns as stream.h reads them.
#pragma once

#include "stream.h"

namespace roofline {

constexpr int StreamColumns = 2048; // 32 KB of packed floats: they stay in L1

/// Elements of a packed stream with its margins; it begins after Lag columns.
constexpr int StreamSize = (StreamColumns + 2 * Lag) * ColumnSize;

template <class T> void pack_column(const T* y, T b, T* column) {
    for (int k = 0; k < 3; ++k)
        column[k] = y[k];
    column[3] = b;
}

/// Packs columns and, around them, the margin that stream() needs: columns at
/// `margin` with a factor of 0. b may be null: 1. Returns the padded count.
template <class T>
int pack_stream(const T* y, const T* b, int count, const T* margin, T* packed) {
    const int padded = (count + Ring - 1) / Ring * Ring;
    for (int j = -Lag; j < 0; ++j)
        pack_column(margin, T(0), packed + j * ColumnSize);
    for (int j = 0; j < count; ++j)
        pack_column(y + 3 * j, b ? b[j] : T(1), packed + j * ColumnSize);
    for (int j = count; j < padded + Lag; ++j)
        pack_column(margin, T(0), packed + j * ColumnSize);
    return padded;
}

} // namespace roofline
