// bench/roofline/block.h - one task, a block of rows against a run of columns.
#pragma once

#include <cstddef>

namespace roofline {

/// A call in the terms of the kernels. scale = -log2(e) / (2 l^2).
template <class T> struct Problem {
    std::ptrdiff_t n, m, d;
    const T *x, *y, *b;
    T scale;
};

struct Range {
    std::ptrdiff_t begin, end;
};

/// Rows in a task: x is packed once for them, and they share each packed
/// panel of columns. A multiple of the rows of every tile.
constexpr std::ptrdiff_t BlockRows = 1024;

/// Elements of scratch that accumulate() needs, for d coordinates.
template <class T> std::size_t scratch_size(std::ptrdiff_t d);

/// sums[i - rows.begin] += the terms of these columns, for at most BlockRows
/// rows. scratch and sums lie on 64 bytes; sums has BlockRows elements, those
/// past the last row hold no result. Needs AVX-512 F, DQ, VL and BW.
template <class T>
void accumulate(const Problem<T>& problem, Range rows, Range columns,
                T* scratch, double* sums);

extern template std::size_t scratch_size<float>(std::ptrdiff_t);
extern template std::size_t scratch_size<double>(std::ptrdiff_t);
extern template void accumulate(const Problem<float>&, Range, Range, float*,
                                double*);
extern template void accumulate(const Problem<double>&, Range, Range, double*,
                                double*);

} // namespace roofline
