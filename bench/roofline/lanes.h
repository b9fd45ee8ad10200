// bench/roofline/lanes.h - one AVX-512 register of float or double, and exp2.
#pragma once

#include <cstddef>
#include <immintrin.h>

#define ROOFLINE_INLINE inline __attribute__((always_inline))

namespace roofline {

// exp2(u) for u <= 0, without a clamp, a branch or a special case:
//
//   f = u - floor(16 u) / 16          vreduce; exact, or within 2^-29 of it
//   t = u + magic, rounded down       its low 4 bits are floor(16 u) mod 16
//   w = 2^(k / 16) for those 4 bits   one permutation of a register table
//   e = w + (w f) q(f)                2^f = 1 + f q(f) on [0, 1/16]
//   result = vscalef(e, u)            = e * 2^floor(u); it floors u itself
//
// vreduce(-inf) is 0 and vscalef(e, -inf) is 0, so -inf gives 0; a NaN passes
// through vreduce. Past the range of magic the table index is arbitrary and
// the result is 0 whatever it is. vscalef stays last: applied to w it would
// round a subnormal twice (1.4 ulp).
//
// The coefficients are minimax for the relative error of 1 + f q(f), lowest
// degree first: 1.3e-9 for float, 7.6e-18 for double, whose first coefficient
// is one unit lower than minimax because the last table entry is 0.48 ulp too
// high. Worst errors by roofline_bench: float 1.025 ulp over all arguments,
// 0.995 where the result is subnormal; double 1.056 and 1.016 over 141 million.

constexpr int RoundDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
constexpr int FractionOf16ths = 0x41; // vreduce: 4 fraction bits, round down

template <class T> struct Lanes;

template <> struct Lanes<float> {
    using Vector = __m512;
    static constexpr int Width = 16;
    static constexpr int Degree = 3; // of 1 + f q(f)
    static constexpr float Magic = 0x1.8p19f;
    static constexpr float Q[Degree] = {0x1.62e43ep-1f, 0x1.ebe5b8p-3f,
                                        0x1.d03d64p-5f};
    alignas(64) static constexpr float Table[16] = {
        0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
        0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
        0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
        0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};

    static ROOFLINE_INLINE Vector zero() { return _mm512_setzero_ps(); }
    static ROOFLINE_INLINE Vector all(float a) { return _mm512_set1_ps(a); }
    static ROOFLINE_INLINE Vector load(const float* p) {
        return _mm512_load_ps(p);
    }
    static ROOFLINE_INLINE Vector sub(Vector a, Vector b) {
        return _mm512_sub_ps(a, b);
    }
    static ROOFLINE_INLINE Vector mul(Vector a, Vector b) {
        return _mm512_mul_ps(a, b);
    }
    static ROOFLINE_INLINE Vector fma(Vector a, Vector b, Vector c) {
        return _mm512_fmadd_ps(a, b, c);
    }
    static ROOFLINE_INLINE Vector fmsub(Vector a, Vector b, Vector c) {
        return _mm512_fmsub_ps(a, b, c);
    }
    static ROOFLINE_INLINE Vector add_down(Vector a, Vector b) {
        return _mm512_add_round_ps(a, b, RoundDown);
    }
    static ROOFLINE_INLINE Vector fraction(Vector u) {
        return _mm512_reduce_ps(u, FractionOf16ths);
    }
    static ROOFLINE_INLINE Vector look_up(Vector t) {
        return _mm512_permutexvar_ps(_mm512_castps_si512(t), load(Table));
    }
    static ROOFLINE_INLINE Vector scale(Vector e, Vector u) {
        return _mm512_scalef_ps(e, u);
    }
    /// sum[0..Width) += a, in double.
    static ROOFLINE_INLINE void add_to(double* sum, Vector a) {
        __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(a));
        __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
        _mm512_store_pd(sum, _mm512_add_pd(_mm512_load_pd(sum), low));
        _mm512_store_pd(sum + 8, _mm512_add_pd(_mm512_load_pd(sum + 8), high));
    }
};

template <> struct Lanes<double> {
    using Vector = __m512d;
    static constexpr int Width = 8;
    static constexpr int Degree = 6;
    static constexpr double Magic = 0x1.8p48;
    static constexpr double Q[Degree] = {
        0x1.62e42fefa39aap-1, 0x1.ebfbdff84120ep-3,  0x1.c6b08d4e9409dp-5,
        0x1.3b2ad0194a3cp-7,  0x1.5d7518ca342b3p-10, 0x1.4a0386787fb8ap-13};
    alignas(64) static constexpr double Table[16] = {0x1p+0,
                                                     0x1.0b5586cf9890fp+0,
                                                     0x1.172b83c7d517bp+0,
                                                     0x1.2387a6e756238p+0,
                                                     0x1.306fe0a31b715p+0,
                                                     0x1.3dea64c123422p+0,
                                                     0x1.4bfdad5362a27p+0,
                                                     0x1.5ab07dd485429p+0,
                                                     0x1.6a09e667f3bcdp+0,
                                                     0x1.7a11473eb0187p+0,
                                                     0x1.8ace5422aa0dbp+0,
                                                     0x1.9c49182a3f09p+0,
                                                     0x1.ae89f995ad3adp+0,
                                                     0x1.c199bdd85529cp+0,
                                                     0x1.d5818dcfba487p+0,
                                                     0x1.ea4afa2a490dap+0};

    static ROOFLINE_INLINE Vector zero() { return _mm512_setzero_pd(); }
    static ROOFLINE_INLINE Vector all(double a) { return _mm512_set1_pd(a); }
    static ROOFLINE_INLINE Vector load(const double* p) {
        return _mm512_load_pd(p);
    }
    static ROOFLINE_INLINE Vector sub(Vector a, Vector b) {
        return _mm512_sub_pd(a, b);
    }
    static ROOFLINE_INLINE Vector mul(Vector a, Vector b) {
        return _mm512_mul_pd(a, b);
    }
    static ROOFLINE_INLINE Vector fma(Vector a, Vector b, Vector c) {
        return _mm512_fmadd_pd(a, b, c);
    }
    static ROOFLINE_INLINE Vector fmsub(Vector a, Vector b, Vector c) {
        return _mm512_fmsub_pd(a, b, c);
    }
    static ROOFLINE_INLINE Vector add_down(Vector a, Vector b) {
        return _mm512_add_round_pd(a, b, RoundDown);
    }
    static ROOFLINE_INLINE Vector fraction(Vector u) {
        return _mm512_reduce_pd(u, FractionOf16ths);
    }
    static ROOFLINE_INLINE Vector look_up(Vector t) {
        return _mm512_permutex2var_pd(load(Table), _mm512_castpd_si512(t),
                                      load(Table + 8));
    }
    static ROOFLINE_INLINE Vector scale(Vector e, Vector u) {
        return _mm512_scalef_pd(e, u);
    }
    static ROOFLINE_INLINE void add_to(double* sum, Vector a) {
        _mm512_store_pd(sum, _mm512_add_pd(_mm512_load_pd(sum), a));
    }
};

/// w 2^f, as in the preface.
template <class T>
ROOFLINE_INLINE typename Lanes<T>::Vector power(typename Lanes<T>::Vector f,
                                                typename Lanes<T>::Vector w) {
    using L = Lanes<T>;
    auto q = L::all(L::Q[L::Degree - 1]);
    for (int k = L::Degree - 2; k >= 0; --k)
        q = L::fma(q, f, L::all(L::Q[k]));
    return L::fma(L::mul(w, f), q, w);
}

/// exp2(u) for u <= 0, as in the preface.
template <class T>
ROOFLINE_INLINE typename Lanes<T>::Vector exp2(typename Lanes<T>::Vector u) {
    using L = Lanes<T>;
    const auto w = L::look_up(L::add_down(u, L::all(L::Magic)));
    return L::scale(power<T>(L::fraction(u), w), u);
}

} // namespace roofline
