// bench/roofline/wide_avx512.cpp - a panel of kernel values, then a product.
//
// For 16 pairs: 3 differences, 3 squares, the scale, 8 operations of exp2
// (vreduce, an addition, a permutation, 2 steps of Horner's, 2 products,
// vscalef), and an FMA for each right-hand side. Values of 48 rows and 128
// columns stay in L1 between the two halves.

#include "product.h"
#include "wide.h"

namespace roofline {

namespace {

using L = Lanes<float>;

struct Rows {
    __m512 x[3][ProductVectors];
};

Rows load_rows(const WideProblem& problem, std::ptrdiff_t first) {
    alignas(64) float packed[3][ProductRows];
    for (int k = 0; k < ProductRows; ++k) {
        const std::ptrdiff_t i = first + k;
        for (int d = 0; d < 3; ++d)
            packed[d][k] = i < problem.n ? problem.x[3 * i + d] : 0;
    }
    Rows rows;
    for (int d = 0; d < 3; ++d)
        for (int v = 0; v < ProductVectors; ++v)
            rows.x[d][v] = L::load(packed[d] + 16 * v);
    return rows;
}

/// weights[j][row] = exp2(scale |x_row - y_j|^2).
ROOFLINE_INLINE void weigh(const Rows& rows, const float* y,
                           std::ptrdiff_t count, float scale, float* weights) {
#pragma GCC unroll 2
    for (std::ptrdiff_t j = 0; j < count; ++j, y += 3)
#pragma GCC unroll 8
        for (int v = 0; v < ProductVectors; ++v) {
            const __m512 s = L::sub(rows.x[0][v], L::all(y[0]));
            const __m512 t = L::sub(rows.x[1][v], L::all(y[1]));
            const __m512 u = L::sub(rows.x[2][v], L::all(y[2]));
            const __m512 d2 = L::fma(u, u, L::fma(t, t, L::mul(s, s)));
            _mm512_store_ps(weights + j * ProductRows + 16 * v,
                            exp2<float>(L::mul(d2, L::all(scale))));
        }
}

} // namespace

std::size_t wide_scratch(const WideProblem& problem) {
    return ProductRows * (ProductTerms + problem.columns);
}

void wide_rows(const WideProblem& problem, std::ptrdiff_t first, float* scratch,
               double* totals) {
    const std::ptrdiff_t elements = ProductRows * problem.columns;
    float* weights = scratch;
    float* sums = scratch + ProductRows * ProductTerms;
    for (std::ptrdiff_t k = 0; k < elements; ++k)
        totals[k] = sums[k] = 0;
    const Rows rows = load_rows(problem, first);
    for (std::ptrdiff_t j = 0; j < problem.m; j += ProductTerms) {
        const std::ptrdiff_t left = problem.m - j;
        const std::ptrdiff_t count = left < ProductTerms ? left : ProductTerms;
        weigh(rows, problem.y + 3 * j, count, problem.scale, weights);
        add_products(weights, problem.b + j * problem.columns, count,
                     problem.columns, sums);
        if (is_carried(j) || left <= ProductTerms)
            carry(sums, totals, elements); // after 256 columns
    }
}

} // namespace roofline
