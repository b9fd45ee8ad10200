// bench/roofline/stream.h - three coordinates, one row vector against a stream.
#pragma once

#include "lanes.h"

namespace roofline {

// The chain from a difference to an accumulated term is about 40 cycles long
// and a column costs 4.5 cycles, so some nine columns must be in flight. The
// processor's schedulers hold about half of that: straight-line code runs at
// 6.4 cycles whatever the tile. So the loop is pipelined by hand. In step s
// every stage works on a different column: stage k on column s - k, with the
// value that stage k - 1 left one step ago. A value lives in slot (column mod
// Ring) of its array; the ring is unrolled, so slots are registers.
//
// The stream reads up to Lag columns before the first and Lag after the last:
// the caller pads with columns of zeros, whose b removes them from the sum.

constexpr int Ring = 8;
constexpr int Lag = 16;
constexpr int PanelColumns = 256; // then the sum goes on in double

/// One packed column of the stream: {y_0, y_1, y_2, b}.
constexpr int ColumnSize = 4;

template <class T> struct Stages {
    typename Lanes<T>::Vector d2[Ring], second[Ring], third[Ring]; // distance
    typename Lanes<T>::Vector u[Ring], t[Ring], f[Ring], w[Ring];  // reduction
    typename Lanes<T>::Vector q[Ring], wf[Ring], e[Ring];          // 2^u
};

/// With Shifted, the exponent is scale |x - y|^2 - reference.
template <class T, bool Shifted> struct Row {
    typename Lanes<T>::Vector x[3], scale, reference, magic;
    const T* coefficients;
};

/// A coefficient of q. The low ones are read from memory as operands: held in
/// registers, which the optimiser prefers, they push the stages out (4%).
template <class T>
ROOFLINE_INLINE typename Lanes<T>::Vector coefficient(const T* q, int k) {
    using L = Lanes<T>;
    return L::all(k < L::Degree - 2 ? q[k] : L::Q[k]);
}

/// The slot of the column that stage k works on in step s.
constexpr int slot(int s, int k) {
    return (s + 2 * Ring - k) % Ring;
}

/// Stages 0 and 1 of both types: two differences and their squares, the third.
template <class T, bool Shifted>
ROOFLINE_INLINE void measure(int s, Stages<T>& v, const Row<T, Shifted>& row,
                             const T* column) {
    using L = Lanes<T>;
    const int k0 = slot(s, 0), k1 = slot(s, 1);
    v.third[k1] = L::sub(row.x[2], L::all(column[2 - ColumnSize]));
    v.d2[k1] = L::fma(v.second[k1], v.second[k1], v.d2[k1]);
    v.second[k0] = L::sub(row.x[1], L::all(column[1]));
    v.d2[k0] = L::sub(row.x[0], L::all(column[0]));
    v.d2[k0] = L::mul(v.d2[k0], v.d2[k0]);
}

template <class T, bool Shifted>
ROOFLINE_INLINE typename Lanes<T>::Vector exponent(typename Lanes<T>::Vector d2,
                                                   const Row<T, Shifted>& row) {
    using L = Lanes<T>;
    if constexpr (Shifted)
        return L::fmsub(d2, row.scale, row.reference);
    else
        return L::mul(d2, row.scale);
}

/// One step in float: eleven stages, each one operation of the chain.
template <bool Shifted>
ROOFLINE_INLINE void step(int s, Stages<float>& v,
                          const Row<float, Shifted>& row, const float* column,
                          __m512& sum) {
    using L = Lanes<float>;
    const float* q = row.coefficients;
    asm volatile("" : "+r"(q)); // a new pointer, see coefficient()
    const int k2 = slot(s, 2), k3 = slot(s, 3), k4 = slot(s, 4);
    const int k5 = slot(s, 5), k6 = slot(s, 6), k7 = slot(s, 7);
    const int k8 = slot(s, 8), k9 = slot(s, 9), k10 = slot(s, 10);

    sum = L::fma(v.e[k10], L::all(column[3 - 10 * ColumnSize]), sum);
    v.e[k9] = L::scale(v.e[k9], v.u[k9]);
    v.e[k8] = L::fma(v.wf[k8], v.q[k8], v.w[k8]);
    v.wf[k7] = L::mul(v.w[k7], v.f[k7]);
    v.q[k7] = L::fma(v.q[k7], v.f[k7], coefficient(q, 0));
    v.q[k6] = L::fma(v.f[k6], coefficient(q, 2), coefficient(q, 1));
    v.w[k6] = L::look_up(v.t[k6]);
    v.t[k5] = L::add_down(v.u[k5], row.magic);
    v.f[k4] = L::fraction(v.u[k4]);
    v.u[k3] = exponent(v.d2[k3], row);
    v.d2[k2] = L::fma(v.third[k2], v.third[k2], v.d2[k2]);
    measure(s, v, row, column);
}

/// One step in double: a column costs 6 cycles, so stages hold two operations.
template <bool Shifted>
ROOFLINE_INLINE void step(int s, Stages<double>& v,
                          const Row<double, Shifted>& row, const double* column,
                          __m512d& sum) {
    using L = Lanes<double>;
    const double* q = row.coefficients;
    asm volatile("" : "+r"(q)); // a new pointer, see coefficient()
    const int k2 = slot(s, 2), k3 = slot(s, 3), k4 = slot(s, 4);
    const int k5 = slot(s, 5), k6 = slot(s, 6), k7 = slot(s, 7);
    const int k8 = slot(s, 8);

    sum = L::fma(v.e[k8], L::all(column[3 - 8 * ColumnSize]), sum);
    v.e[k7] = L::fma(v.wf[k7], v.q[k7], v.w[k7]);
    v.e[k7] = L::scale(v.e[k7], v.u[k7]);
    v.q[k6] = L::fma(v.q[k6], v.f[k6], coefficient(q, 1));
    v.wf[k6] = L::mul(v.w[k6], v.f[k6]);
    v.q[k6] = L::fma(v.q[k6], v.f[k6], coefficient(q, 0));
    v.w[k5] = L::look_up(v.t[k5]);
    v.q[k5] = L::fma(v.q[k5], v.f[k5], coefficient(q, 3));
    v.q[k5] = L::fma(v.q[k5], v.f[k5], coefficient(q, 2));
    v.t[k4] = L::add_down(v.u[k4], row.magic);
    v.q[k4] = L::fma(v.f[k4], coefficient(q, 5), coefficient(q, 4));
    v.f[k3] = L::fraction(v.u[k3]);
    v.d2[k2] = L::fma(v.third[k2], v.third[k2], v.d2[k2]);
    v.u[k2] = exponent(v.d2[k2], row);
    measure(s, v, row, column);
}

/// Nothing in flight: what comes out of the stages has exponents of 0 or -inf.
template <class T, bool Shifted> ROOFLINE_INLINE void clear(Stages<T>& v) {
    using L = Lanes<T>;
    for (int k = 0; k < Ring; ++k) {
        v.d2[k] = L::all(Shifted ? T(__builtin_inf()) : T(0));
        v.second[k] = v.third[k] = v.u[k] = v.t[k] = L::zero();
        v.f[k] = v.w[k] = v.q[k] = v.wf[k] = v.e[k] = L::zero();
    }
}

/// x is 3 x Width.
template <class T, bool Shifted = false>
ROOFLINE_INLINE Row<T, Shifted> row_of(const T* x, T scale,
                                       const T* coefficients,
                                       const T* reference = nullptr) {
    using L = Lanes<T>;
    const int w = L::Width;
    return {{L::load(x), L::load(x + w), L::load(x + 2 * w)},
            L::all(scale),
            Shifted ? L::load(reference) : L::zero(),
            L::all(L::Magic),
            coefficients};
}

/// sums[lane] += sum over the columns of exp2(exponent of the row) b.
///
/// columns points at the first of count packed columns, count a multiple of
/// Ring, with Lag columns on either side whose b is 0 and whose terms are
/// finite.
template <class T, bool Shifted>
ROOFLINE_INLINE void stream(const Row<T, Shifted>& row, const T* columns,
                            int count, double* sums) {
    using L = Lanes<T>;
    Stages<T> stages;
    clear<T, Shifted>(stages);
    for (int left = count + Lag; left > 0; left -= PanelColumns) {
        auto sum = L::zero();
        const int panel = left < PanelColumns ? left : PanelColumns;
        const T* end = columns + panel * ColumnSize;
        for (; columns != end; columns += Ring * ColumnSize) {
#pragma GCC unroll 8
            for (int s = 0; s < Ring; ++s)
                step(s, stages, row, columns + s * ColumnSize, sum);
        }
        L::add_to(sums, sum);
    }
}

} // namespace roofline
