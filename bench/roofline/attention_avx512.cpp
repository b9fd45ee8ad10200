// bench/roofline/attention_avx512.cpp - scores, weights and products by panels.
//
// For 16 pairs: d FMAs for the score, one for the exponent, 8 operations of
// exp2 (vreduce, an addition, a permutation, 2 steps of Horner's, 2 products,
// vscalef), an addition to the sum of the weights, and e FMAs with v. With
// pairs of bfloat16, d / 2 operations give the score; weights stay in float,
// which is why v does, too: rounded to bfloat16 they would be off by 2^-9.
//
// The exponent is score * scale - r. r is the largest over the first keys, so
// never above the largest of all, and nothing is lost to underflow. Weights
// above 1 do no harm as long as they stay far from overflow: a panel whose
// sum of weights is above 2^24 is done again with r raised, which is rare.

#include "attention.h"
#include "product.h"

namespace roofline {

namespace {

using L = Lanes<float>;

constexpr float MostWeight = 0x1p24f;

/// What a block of rows carries from panel to panel.
struct State {
    const AttentionProblem& problem;
    const float* q; // d x 48
    float* weights; // of a panel, 128 x 48
    float* sums;    // e x 48, then 48 of the weights
    double* totals; // the same, in double
    __m512 reference[ProductVectors];

    std::ptrdiff_t elements() const { return ProductRows * (problem.e + 1); }
};

void pack_queries(const AttentionProblem& problem, std::ptrdiff_t first,
                  float* q) {
    for (int row = 0; row < ProductRows; ++row)
        for (std::ptrdiff_t k = 0; k < problem.d; ++k) {
            const std::ptrdiff_t i = first + row;
            q[k * ProductRows + row] =
                i < problem.n ? problem.q[i * problem.d + k] : 0;
        }
}

ROOFLINE_INLINE void score(const State& state, std::ptrdiff_t key,
                           ProductTile& tile) {
#pragma GCC unroll 8
    for (int c = 0; c < ProductColumns; ++c)
#pragma GCC unroll 8
        for (int v = 0; v < ProductVectors; ++v)
            tile[c][v] = L::zero();
    const std::ptrdiff_t d = state.problem.d;
    if (state.problem.pairs)
        multiply_add_pairs(state.q, state.problem.k + key * d, d, tile);
    else
        multiply_add(state.q, state.problem.k + key * d, d, tile);
}

/// r = at least the largest exponent of these keys; what was summed with the
/// old one is scaled.
void raise(State& state, std::ptrdiff_t key, std::ptrdiff_t count) {
    __m512 largest[ProductVectors];
    for (auto& v : largest)
        v = L::all(-__builtin_inff());
    for (std::ptrdiff_t k = 0; k < count; k += ProductColumns) {
        ProductTile tile;
        score(state, key + k, tile);
        for (int c = 0; c < ProductColumns && k + c < count; ++c)
            for (int v = 0; v < ProductVectors; ++v)
                largest[v] = _mm512_max_ps(tile[c][v], largest[v]);
    }
    for (int v = 0; v < ProductVectors; ++v) {
        const __m512 old = state.reference[v];
        __m512 now = L::mul(largest[v], L::all(state.problem.scale));
        now = _mm512_max_ps(now, old);
        now = _mm512_mask_mov_ps(
            now, _mm512_cmp_ps_mask(now, L::all(-__builtin_inff()), _CMP_EQ_OQ),
            L::zero());
        state.reference[v] = now;
        const __m512 factor = exp2<float>(L::sub(old, now));
        const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(factor));
        const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(factor, 1));
        for (std::ptrdiff_t k = 16 * v; k < state.elements();
             k += ProductRows) {
            double* total = state.totals + k;
            _mm512_store_pd(total, _mm512_mul_pd(_mm512_load_pd(total), low));
            _mm512_store_pd(total + 8,
                            _mm512_mul_pd(_mm512_load_pd(total + 8), high));
        }
    }
}

/// Weights of 8 keys from `first` of the panel, of which `count` are there.
ROOFLINE_INLINE void weigh(const State& state, ProductTile& tile, int count,
                           float* weights, __m512 (&sum)[ProductVectors]) {
#pragma GCC unroll 8
    for (int c = 0; c < ProductColumns; ++c)
#pragma GCC unroll 8
        for (int v = 0; v < ProductVectors; ++v) {
            const __m512 u = _mm512_fmsub_ps(
                tile[c][v], L::all(state.problem.scale), state.reference[v]);
            const __m512 weight = exp2<float>(u);
            _mm512_store_ps(weights + c * ProductRows + 16 * v, weight);
            if (c < count)
                sum[v] = _mm512_add_ps(sum[v], weight);
        }
}

/// The weights of a panel; false if some are too large, or NaN.
bool weigh_panel(State& state, std::ptrdiff_t key, std::ptrdiff_t count,
                 __m512 (&sum)[ProductVectors]) {
    for (auto& v : sum)
        v = L::zero();
    std::ptrdiff_t k = 0;
    for (; k < count; k += ProductColumns) {
        ProductTile tile;
        score(state, key + k, tile);
        float* weights = state.weights + k * ProductRows;
        if (k + ProductColumns <= count)
            weigh(state, tile, ProductColumns, weights, sum);
        else
            weigh(state, tile, int(count - k), weights, sum);
    }
    unsigned good = 0xffff;
    for (int v = 0; v < ProductVectors; ++v)
        good &= _mm512_cmp_ps_mask(sum[v], L::all(MostWeight), _CMP_LE_OQ);
    return good == 0xffff;
}

void add_panel(State& state, std::ptrdiff_t key, std::ptrdiff_t count) {
    __m512 sum[ProductVectors];
    if (!weigh_panel(state, key, count, sum)) {
        carry(state.sums, state.totals, state.elements());
        raise(state, key, count);
        weigh_panel(state, key, count, sum);
    }
    float* weights = state.sums + ProductRows * state.problem.e;
    for (int v = 0; v < ProductVectors; ++v)
        _mm512_store_ps(weights + 16 * v,
                        _mm512_add_ps(L::load(weights + 16 * v), sum[v]));
    add_products(state.weights, state.problem.v + key * state.problem.e, count,
                 state.problem.e, state.sums);
}

} // namespace

std::size_t attention_scratch(const AttentionProblem& problem) {
    return ProductRows * (problem.d + ProductTerms + problem.e + 1);
}

void attention_rows(const AttentionProblem& problem, std::ptrdiff_t first,
                    float* scratch, double* totals, double* weights) {
    float* q = scratch;
    float* panel = q + ProductRows * problem.d;
    State state = {problem, q, panel, panel + ProductRows * ProductTerms,
                   totals,  {}};
    for (auto& v : state.reference)
        v = L::all(-__builtin_inff());
    for (std::ptrdiff_t k = 0; k < state.elements(); ++k)
        totals[k] = state.sums[k] = 0;
    pack_queries(problem, first, q);
    raise(state, 0, problem.m < ProductColumns ? problem.m : ProductColumns);
    for (std::ptrdiff_t j = 0; j < problem.m; j += ProductTerms) {
        const std::ptrdiff_t left = problem.m - j;
        add_panel(state, j, left < ProductTerms ? left : ProductTerms);
        if (is_carried(j) || left <= ProductTerms)
            carry(state.sums, totals, state.elements());
    }
    for (int row = 0; row < ProductRows; ++row)
        weights[row] = totals[ProductRows * problem.e + row];
}

} // namespace roofline
