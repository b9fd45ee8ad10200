// bench/roofline/statements_avx512.cpp - one statement after the other.
//
// A statement goes over all rows before the next begins: its chain is 20 to 60
// cycles long, and the rows are what fills them. The array stays in L1.

#include "lanes.h"
#include "statements.h"

namespace roofline {

namespace {

using L = Lanes<float>;
using Vector = L::Vector;

/// The sine, or where `half` is 1/2 the cosine, of eight: x is reduced to
/// [-pi/2, pi/2] by two parts of pi, then an odd polynomial of degree 9. The
/// lowest bit of a sum with `magic` is that of the whole number in it.
ROOFLINE_INLINE __m256 sine(__m256 narrow, double half) {
    const auto all = [](double value) { return _mm512_set1_pd(value); };
    const __m512d magic = all(0x1.8p52);
    const __m512d x = _mm512_cvtps_pd(narrow);
    const __m512d turns = _mm512_add_pd(
        _mm512_fmadd_pd(x, all(0x1.45f306dc9c883p-2), all(half)), magic);
    const __m512d q = _mm512_sub_pd(_mm512_sub_pd(turns, magic), all(half));
    __m512d r = _mm512_fnmadd_pd(q, all(0x1.921fb54442d18p+1), x);
    r = _mm512_fnmadd_pd(q, all(0x1.1a62633145c07p-53), r);
    const __m512d s = _mm512_mul_pd(r, r);
    __m512d p = _mm512_fmadd_pd(s, all(0x1.5dbdeb3b6c3eap-19),
                                all(-0x1.9f6ffe8b33f80p-13));
    p = _mm512_fmadd_pd(p, s, all(0x1.110ed37e708dap-7));
    p = _mm512_fmadd_pd(p, s, all(-0x1.55554bc82c016p-3));
    const __m512d result = _mm512_mul_pd(r, _mm512_fmadd_pd(p, s, all(1)));
    // (-1)^q, and once more for the cosine: cos(r + (q + 1/2) pi).
    const __m512i odd = _mm512_slli_epi64(_mm512_castpd_si512(turns), 63);
    return _mm512_cvtpd_ps(_mm512_castsi512_pd(
        _mm512_xor_si512(_mm512_castpd_si512(result), odd)));
}

ROOFLINE_INLINE Vector sine(Vector x, float half) {
    const __m256 low = sine(_mm512_castps512_ps256(x), half);
    const __m256 high = sine(_mm512_extractf32x8_ps(x, 1), half);
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

ROOFLINE_INLINE Vector exponential(Vector x, float factor) {
    return exp2<float>(L::mul(x, L::all(factor * 0x1.715476p+0f)));
}

/// 1 / (1 + e^-x) by a reciprocal of 14 bits and a step of Newton's; the
/// exponent is held where that has a finite divisor.
ROOFLINE_INLINE Vector sigmoid(Vector x) {
    const Vector u =
        _mm512_min_ps(L::all(126), L::mul(x, L::all(-0x1.715476p+0f)));
    const Vector divisor = _mm512_add_ps(exp2<float>(u), L::all(1));
    const Vector first = _mm512_rcp14_ps(divisor);
    const Vector error = _mm512_fnmadd_ps(divisor, first, L::all(1));
    return L::fma(first, error, first);
}

template <class F>
ROOFLINE_INLINE void over(float* x, std::ptrdiff_t rows, F statement) {
#pragma GCC unroll 4
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
    over(x, rows, [&](Vector v) { return sine(v, half); });
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

} // namespace roofline
