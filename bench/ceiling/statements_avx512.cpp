// bench/ceiling/statements_avx512.cpp - one statement after the other.
//
// A statement goes over all rows before the next begins: its chain is 20 to 60
// cycles long, and the rows are what fills them. The array stays in L1.

#include "lanes.h"
#include "statements.h"

namespace ceiling {

namespace {

using L = Lanes<float>;
using Vector = L::Vector;

/// The sine of r + q pi or the cosine, where `half` is 0 or 1/2: x is reduced
/// to [-pi/2, pi/2] by three parts of pi, then an odd polynomial of degree 9.
CEILING_INLINE Vector sine(Vector x, Vector half) {
    const Vector turns =
        L::fma(x, L::all(0x1.45f306p-2f), L::sub(L::zero(), half));
    const Vector q = _mm512_roundscale_ps(turns, _MM_FROUND_TO_NEAREST_INT |
                                                     _MM_FROUND_NO_EXC);
    const Vector whole = _mm512_add_ps(q, half);
    Vector r = _mm512_fnmadd_ps(whole, L::all(3.140625f), x);
    r = _mm512_fnmadd_ps(whole, L::all(0x1.fb4p-11f), r);
    r = _mm512_fnmadd_ps(whole, L::all(0x1.4442d2p-24f), r);
    const Vector s = L::mul(r, r);
    Vector p = L::fma(s, L::all(2.6083159809786593541503e-06f),
                      L::all(-0.0001981069071916863322258f));
    p = L::fma(p, s, L::all(0.00833307858556509017944336f));
    p = L::fma(p, s, L::all(-0.166666597127914428710938f));
    const Vector result = L::fma(L::mul(p, s), r, r);
    // (-1)^q, and once more for the cosine: cos(r + (q + 1/2) pi).
    const __m512i odd =
        _mm512_slli_epi32(_mm512_cvtps_epi32(_mm512_add_ps(whole, half)), 31);
    return _mm512_castsi512_ps(
        _mm512_xor_si512(_mm512_castps_si512(result), odd));
}

CEILING_INLINE Vector exponential(Vector x, float factor) {
    return exp2<float>(L::mul(x, L::all(factor * 0x1.715476p+0f)));
}

/// 1 / (1 + e^-x) by a reciprocal of 14 bits and a step of Newton's; the
/// exponent is held where that has a finite divisor.
CEILING_INLINE Vector sigmoid(Vector x) {
    const Vector u =
        _mm512_min_ps(L::all(126), L::mul(x, L::all(-0x1.715476p+0f)));
    const Vector divisor = _mm512_add_ps(exp2<float>(u), L::all(1));
    const Vector first = _mm512_rcp14_ps(divisor);
    const Vector error = _mm512_fnmadd_ps(divisor, first, L::all(1));
    return L::fma(first, error, first);
}

template <class F>
CEILING_INLINE void over(float* x, std::ptrdiff_t rows, F statement) {
#pragma GCC unroll 2
    for (std::ptrdiff_t k = 0; k < rows; ++k)
        _mm512_store_ps(x + 16 * k, statement(L::load(x + 16 * k)));
}

void add(float* x, std::ptrdiff_t rows, float constant) {
    over(x, rows, [&](Vector v) { return _mm512_add_ps(v, L::all(constant)); });
}

void multiply(float* x, std::ptrdiff_t rows, float constant) {
    over(x, rows, [&](Vector v) { return L::mul(v, L::all(constant)); });
}

void sine(float* x, std::ptrdiff_t rows, float half) {
    over(x, rows, [&](Vector v) { return sine(v, L::all(half)); });
}

void exponential(float* x, std::ptrdiff_t rows, float factor) {
    over(x, rows, [&](Vector v) { return exponential(v, factor); });
}

void sigmoid(float* x, std::ptrdiff_t rows, float) {
    over(x, rows, [&](Vector v) { return sigmoid(v); });
}

void relu(float* x, std::ptrdiff_t rows, float) {
    over(x, rows, [&](Vector v) { return _mm512_max_ps(L::zero(), v); });
}

struct Statement {
    void (*run)(float*, std::ptrdiff_t, float);
    float constant;
};

constexpr int Statements = 20;
constexpr Statement Chain[Statements] = {
    {add, 0.1f}, {sine, 0},           {multiply, 1.1f}, {sine, 0.5f},
    {add, 0.2f}, {relu, 0},           {add, -0.1f},     {exponential, 0.5f},
    {add, 0.3f}, {sigmoid, 0},        {multiply, 1.2f}, {sine, 0},
    {add, 0.4f}, {sine, 0.5f},        {add, -0.2f},     {relu, 0},
    {add, 0.5f}, {exponential, 0.4f}, {multiply, 1.3f}, {sigmoid, 0}};

} // namespace

float sum_of_statements(std::ptrdiff_t statements, const float* x,
                        std::ptrdiff_t rows) {
    alignas(64) float values[16 * StatementRows];
    for (std::ptrdiff_t k = 0; k < rows; ++k)
        _mm512_store_ps(values + 16 * k, _mm512_loadu_ps(x + 16 * k));
    for (std::ptrdiff_t k = 0; k < statements; ++k) {
        const Statement& statement = Chain[k % Statements];
        statement.run(values, rows, statement.constant);
    }
    Vector sums[2] = {L::zero(), L::zero()};
    for (std::ptrdiff_t k = 0; k < rows; ++k)
        sums[k % 2] = _mm512_add_ps(sums[k % 2], L::load(values + 16 * k));
    const Vector sum = _mm512_add_ps(sums[0], sums[1]);
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(sum));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1));
    return float(_mm512_reduce_add_pd(_mm512_add_pd(low, high)));
}

} // namespace ceiling
