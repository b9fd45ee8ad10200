// bench/roofline/block_avx512.cpp - packs a task's arrays and runs the kernels.
//
// The only file of the library compiled for AVX-512. It uses nothing of the
// standard library, so that no inline function compiled here can replace the
// copy that runs before the processor was asked what it can do.

#include "block.h"
#include "pack_stream.h"
#include "processor.h"
#include "rows_stream.h"
#include "tile.h"

namespace roofline {

namespace {

std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) {
    return a < b ? a : b;
}

/// Packs rows into groups of d x group elements, zeros past the last row.
template <class T>
std::ptrdiff_t pack_rows(const Problem<T>& problem, Range rows, int group,
                         T* packed) {
    const std::ptrdiff_t d = problem.d, count = rows.end - rows.begin;
    const std::ptrdiff_t groups = (count + group - 1) / group;
    for (std::ptrdiff_t g = 0; g < groups; ++g)
        for (int lane = 0; lane < group; ++lane) {
            const std::ptrdiff_t i = g * group + lane;
            const T* x = problem.x + (rows.begin + i) * d;
            for (std::ptrdiff_t k = 0; k < d; ++k)
                packed[(g * d + k) * group + lane] = i < count ? x[k] : T(0);
        }
    return groups;
}

template <class T>
void accumulate_stream(const Problem<T>& problem, Range rows, Range columns,
                       T* scratch, double* sums) {
    using L = Lanes<T>;
    const std::ptrdiff_t vectors = pack_rows(problem, rows, L::Width, scratch);
    T* packed = scratch + 3 * BlockRows + Lag * ColumnSize;
    for (std::ptrdiff_t j = columns.begin; j < columns.end;) {
        const int count = int(smaller(StreamColumns, columns.end - j));
        const T zeros[3] = {};
        const int padded =
            pack_stream(problem.y + 3 * j, problem.b + j, count, zeros, packed);
        std::ptrdiff_t v = 0;
        for (; is_zen5() && v + StreamRows <= vectors; v += StreamRows)
            stream_rows<T, StreamRows>(scratch + 3 * L::Width * v,
                                       problem.scale, packed, count,
                                       sums + L::Width * v);
        for (; v < vectors; ++v)
            stream(row_of<T>(scratch + 3 * L::Width * v, problem.scale, L::Q),
                   packed, padded, sums + L::Width * v);
        j += count;
    }
}

/// Packs columns for tile_panel(): count x d, then zeros up to `padded`.
template <class T>
void pack_panel(const Problem<T>& problem, std::ptrdiff_t first, int count,
                int padded, T* y, T* b) {
    const std::ptrdiff_t d = problem.d;
    const T* source = problem.y + first * d;
    for (std::ptrdiff_t k = 0; k < padded * d; ++k)
        y[k] = k < count * d ? source[k] : T(0);
    for (int j = 0; j < padded; ++j)
        b[j] = j < count ? problem.b[first + j] : T(0);
}

template <class T, int Vectors, int Columns>
void accumulate_tiles(const Problem<T>& problem, Range rows, Range columns,
                      T* scratch, double* sums) {
    const int height = Vectors * Lanes<T>::Width;
    const int panel = MostPanelColumns / Columns * Columns;
    const std::ptrdiff_t d = problem.d;
    const std::ptrdiff_t tiles = pack_rows(problem, rows, height, scratch);
    T* b = scratch + BlockRows * d;
    T* y = b + MostPanelColumns;
    for (std::ptrdiff_t j = columns.begin; j < columns.end;) {
        const int count = int(smaller(panel, columns.end - j));
        const int padded = (count + Columns - 1) / Columns * Columns;
        pack_panel(problem, j, count, padded, y, b);
        for (std::ptrdiff_t i = 0; i < tiles; ++i)
            tile_panel<T, Vectors, Columns>(scratch + i * height * d, y, b,
                                            padded, d, problem.scale,
                                            sums + i * height);
        j += count;
    }
}

} // namespace

template <class T> std::size_t scratch_size(std::ptrdiff_t d) {
    if (d == 3)
        return 3 * BlockRows + StreamSize;
    return BlockRows * d + MostPanelColumns * (d + 1);
}

template <class T>
void accumulate(const Problem<T>& problem, Range rows, Range columns,
                T* scratch, double* sums) {
    if (problem.d == 3)
        accumulate_stream(problem, rows, columns, scratch, sums);
    else if (is_zen4())
        accumulate_tiles<T, 1, LowTileColumns>(problem, rows, columns, scratch,
                                               sums);
    else
        accumulate_tiles<T, TileVectors, TileColumns>(problem, rows, columns,
                                                      scratch, sums);
}

template std::size_t scratch_size<float>(std::ptrdiff_t);
template std::size_t scratch_size<double>(std::ptrdiff_t);
template void accumulate(const Problem<float>&, Range, Range, float*, double*);
template void accumulate(const Problem<double>&, Range, Range, double*,
                         double*);

} // namespace roofline
