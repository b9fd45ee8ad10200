// bench/roofline/sieve_avx512.cpp - products of bf16, 32 of them for 16 pairs
// in an instruction.
//
// A tile is one vector of rows by 16 columns: x'·y' - |y'|²/2, whose largest in
// a group is the smallest square.

#include "lanes.h"
#include "sieve.h"

namespace roofline {

namespace {

using L = Lanes<float>;
constexpr int Vectors = NearestRows / 16;
constexpr int SieveColumns = 16;
static_assert(NearestGroup % SieveColumns == 0);

/// Only has to be no smaller.
ROOFLINE_INLINE __m512 upwards(__m512 x) {
    return L::mul(x, L::all(1 + 0x1p-10f));
}

/// 16 points as they are rounded: their words, |x'|² and |x - c - x'|².
struct Rounded {
    __m512 square = L::zero(), error = L::zero();

    ROOFLINE_INLINE __m512i add(__m512 x) {
        const __m512i bits =
            _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x));
        const __m512 nearest = _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
        const __m512 rest = L::sub(x, nearest);
        square = L::fma(nearest, nearest, square);
        error = L::fma(rest, rest, error);
        return bits;
    }
    ROOFLINE_INLINE __m512 length() const {
        return upwards(_mm512_sqrt_ps(square));
    }
    /// With the rounding of x - c.
    ROOFLINE_INLINE __m512 distance() const {
        return L::fma(length(), L::all(0x1p-22f),
                      upwards(_mm512_sqrt_ps(error)));
    }
};

/// 16 points that lie `stride` apart, coordinate by coordinate.
ROOFLINE_INLINE Rounded round_points(const float* points, std::ptrdiff_t stride,
                                     std::ptrdiff_t d, const float* centre,
                                     std::uint32_t* words) {
    Rounded rounded;
    const auto coordinate = [&](std::ptrdiff_t k) {
        return rounded.add(
            L::sub(L::load(points + k * stride), L::all(centre[k])));
    };
    for (std::ptrdiff_t k = 0; k < d; k += 2) {
        __m512i word = coordinate(k);
        if (k + 1 < d)
            word =
                _mm512_or_si512(word, _mm512_slli_epi32(coordinate(k + 1), 16));
        _mm512_store_si512(words + k / 2 * stride, word);
    }
    return rounded;
}

float largest(__m512 x, float than) {
    const float most = _mm512_reduce_max_ps(x);
    return most > than ? most : than;
}

/// The largest x'·y' - |y'|²/2 of 16 rows and a group.
ROOFLINE_INLINE __m512 scan(const std::uint32_t* rows,
                            const std::uint32_t* columns, const float* halves,
                            std::ptrdiff_t words) {
    __m512 most = L::all(-__builtin_inff());
#pragma GCC unroll 1
    for (int j = 0; j < NearestGroup; j += SieveColumns) {
        __m512 sums[SieveColumns];
#pragma GCC unroll 16
        for (int c = 0; c < SieveColumns; ++c)
            sums[c] = L::sub(L::zero(), L::all(halves[j + c]));
#pragma GCC unroll 1
        for (std::ptrdiff_t w = 0; w < words; ++w) {
            const auto row =
                (__m512bh)_mm512_load_si512(rows + w * NearestRows);
#pragma GCC unroll 16
            for (int c = 0; c < SieveColumns; ++c)
                sums[c] =
                    _mm512_dpbf16_ps(sums[c], row,
                                     (__m512bh)_mm512_set1_epi32(int(
                                         columns[w * NearestGroup + j + c])));
        }
#pragma GCC unroll 16
        for (int c = 0; c < SieveColumns; ++c)
            most = _mm512_max_ps(most, sums[c]);
    }
    return most;
}

} // namespace

void pack_sieve(const NearestProblem& problem, std::ptrdiff_t g,
                std::uint32_t* words, float* halves, float& length,
                float& error) {
    const float* group = problem.groups + g * NearestGroup * problem.d;
    for (int j = 0; j < NearestGroup; j += 16) {
        const Rounded columns = round_points(group + j, NearestGroup, problem.d,
                                             problem.y, words + j);
        _mm512_store_ps(halves + j, L::mul(columns.square, L::all(0.5f)));
        length = largest(columns.length(), length);
        error = largest(columns.distance(), error);
    }
}

Widening sieve_minima(const NearestProblem& problem, const float* rows,
                      std::uint32_t* words, float* minima) {
    const NearestSieve& sieve = *problem.sieve;
    const std::ptrdiff_t count = sieve_words(problem.d);
    Widening by;
    by.rounded = float(problem.d + 16) * 0x1p-23f;
    __m512 squares[Vectors];
    for (int r = 0; r < Vectors; ++r) {
        const Rounded rounded = round_points(
            rows + 16 * r, NearestRows, problem.d, problem.y, words + 16 * r);
        squares[r] = rounded.square;
        const __m512 both =
            L::fma(L::all(sieve.length), L::all(2), rounded.length());
        _mm512_store_ps(by.error + 16 * r,
                        _mm512_add_ps(rounded.distance(), L::all(sieve.error)));
        _mm512_store_ps(
            by.slack + 16 * r,
            L::fma(L::mul(both, both), L::all(by.rounded), L::all(0x1p-116f)));
    }
    for (std::ptrdiff_t g = 0; g < problem.count(); ++g)
        for (int r = 0; r < Vectors; ++r) {
            const __m512 most =
                scan(words + 16 * r, sieve.words + g * count * NearestGroup,
                     sieve.halves + g * NearestGroup, count);
            _mm512_store_ps(minima + g * NearestRows + 16 * r,
                            L::fma(most, L::all(-2), squares[r]));
        }
    return by;
}

void widen(const Widening& by, const float* squares, float* out) {
    for (int r = 0; r < NearestRows; r += 16) {
        const __m512 slack = L::load(by.slack + r);
        const __m512 square = _mm512_add_ps(
            _mm512_max_ps(L::load(squares + r), L::zero()), slack);
        const __m512 distance =
            _mm512_add_ps(_mm512_sqrt_ps(square), L::load(by.error + r));
        _mm512_store_ps(out + r, L::fma(L::mul(distance, distance),
                                        L::all(1 + by.rounded), slack));
    }
}

} // namespace roofline
