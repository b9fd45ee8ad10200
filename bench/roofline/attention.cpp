// bench/roofline/attention.cpp - packs keys and values, then blocks of rows.

#include "attention.h"
#include "call.h"
#include "panels.h"
#include "product_sizes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace roofline {

namespace {

void pack(const AttentionProblem& problem, std::ptrdiff_t e, const float* k,
          const float* v, int threads, float* keys, float* values) {
    const std::ptrdiff_t m = problem.m;
    for_blocks(threads, m, ProductTerms, 0,
               [&](std::ptrdiff_t begin, std::ptrdiff_t end, float*) {
                   pack_transposed(k, m, problem.d, ProductColumns, begin, end,
                                   keys);
                   pack_panels(v, m, e, ProductTerms, ProductColumns, begin,
                               end, values);
               });
}

void run(AttentionProblem problem, std::ptrdiff_t e, const float* k,
         const float* v, int threads, float* out) {
    const std::ptrdiff_t m = round_up(problem.m, ProductTerms);
    auto keys = aligned<float>(m * problem.d);
    auto values = aligned<float>(m * problem.e);
    pack(problem, e, k, v, threads, keys.get(), values.get());
    problem.k = keys.get();
    problem.v = values.get();
    const std::size_t scratch = attention_scratch(problem);
    const std::size_t totals = ProductRows * (problem.e + 1);
    for_blocks(threads, problem.n, ProductRows, scratch + 2 * totals,
               [&](std::ptrdiff_t begin, std::ptrdiff_t end, float* own) {
                   auto* sums = reinterpret_cast<double*>(own + scratch);
                   double weights[ProductRows];
                   attention_rows(problem, begin, own, sums, weights);
                   for (std::ptrdiff_t i = begin; i < end; ++i)
                       for (std::ptrdiff_t c = 0; c < e; ++c)
                           out[i * e + c] =
                               float(sums[c * ProductRows + i - begin] /
                                     weights[i - begin]);
               });
}

bool is_bad(std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t e,
            const void* q, const void* k, const void* v, const void* out) {
    return n < 0 || m < 1 || d < 1 || e < 1 || !k || !v ||
           (n > 0 && (!q || !out));
}

float scale_of(std::int64_t d) {
    return float(std::numbers::log2e / std::sqrt(double(d)));
}

/// Whether the dot product of pairs is as fast as an FMA: on Zen 4 and 5. Intel
/// has one in two cycles, where two pipes do four FMAs.
bool has_fast_pairs() {
    return __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel");
}

/// Pairs of bfloat16 where floats are copied: the bits are what counts.
Aligned<float> pairs_of(const std::uint16_t* values, std::ptrdiff_t count) {
    auto made = aligned<float>(std::max<std::ptrdiff_t>(1, count / 2));
    std::memcpy(made.get(), values, count * sizeof *values);
    return made;
}

Aligned<float> floats_of(const std::uint16_t* values, std::ptrdiff_t count) {
    auto made = aligned<float>(std::max<std::ptrdiff_t>(1, count));
    for (std::ptrdiff_t k = 0; k < count; ++k)
        made[k] = std::bit_cast<float>(std::uint32_t(values[k]) << 16);
    return made;
}

} // namespace

} // namespace roofline

using namespace roofline;

int tilefold_roofline_attention_f32(std::int64_t n, std::int64_t m,
                                    std::int64_t d, std::int64_t e,
                                    const float* q, const float* k,
                                    const float* v, float* out, int threads) {
    if (is_bad(n, m, d, e, q, k, v, out))
        return TilefoldRooflineBadArgument;
    return guarded([&] {
        run({n, m, d, round_up(e, ProductColumns), q, nullptr, nullptr,
             scale_of(d), false},
            e, k, v, threads_of(threads), out);
    });
}

int tilefold_roofline_attention_bf16(std::int64_t n, std::int64_t m,
                                     std::int64_t d, std::int64_t e,
                                     const std::uint16_t* q,
                                     const std::uint16_t* k,
                                     const std::uint16_t* v, float* out,
                                     std::int64_t scores, int threads) {
    if (is_bad(n, m, d, e, q, k, v, out) || d % 2 == 1)
        return TilefoldRooflineBadArgument;
    if (scores == ScoresOfPairs && !__builtin_cpu_supports("avx512bf16"))
        return TilefoldRooflineNoAvx512;
    return guarded([&] {
        const bool pairs = scores == ScoresOfPairs ||
                           (scores == ScoresAsFast && has_fast_pairs());
        const auto queries = pairs ? pairs_of(q, n * d) : floats_of(q, n * d);
        const auto keys = pairs ? pairs_of(k, m * d) : floats_of(k, m * d);
        const auto values = floats_of(v, m * e);
        run({n, m, pairs ? d / 2 : d, round_up(e, ProductColumns),
             queries.get(), nullptr, nullptr, scale_of(d), pairs},
            e, keys.get(), values.get(), threads_of(threads), out);
    });
}
