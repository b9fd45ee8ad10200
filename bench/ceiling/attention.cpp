// bench/ceiling/attention.cpp - packs keys and values, then blocks of rows.

#include "attention.h"
#include "call.h"
#include "panels.h"
#include "product_sizes.h"

#include <cmath>
#include <numbers>

namespace ceiling {

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

} // namespace

} // namespace ceiling

int tilefold_ceiling_attention_f32(std::int64_t n, std::int64_t m,
                                   std::int64_t d, std::int64_t e,
                                   const float* q, const float* k,
                                   const float* v, float* out, int threads) {
    using namespace ceiling;
    if (n < 0 || m < 1 || d < 1 || e < 1 || !k || !v)
        return TilefoldCeilingBadArgument;
    if (n > 0 && (!q || !out))
        return TilefoldCeilingBadArgument;
    const float scale = float(std::numbers::log2e / std::sqrt(double(d)));
    return guarded([&] {
        run({n, m, d, round_up(e, ProductColumns), q, nullptr, nullptr, scale},
            e, k, v, threads_of(threads), out);
    });
}
