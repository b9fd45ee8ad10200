// bench/roofline/wide.cpp - packs the right-hand sides, then blocks of rows.

#include "wide.h"
#include "call.h"
#include "panels.h"
#include "product_sizes.h"

#include <numbers>

namespace roofline {

namespace {

void run(WideProblem problem, const float* b, std::ptrdiff_t columns,
         int threads, float* out) {
    auto packed =
        aligned<float>(round_up(problem.m, ProductTerms) * problem.columns);
    for_blocks(threads, problem.m, ProductTerms, 0,
               [&](std::ptrdiff_t begin, std::ptrdiff_t end, float*) {
                   pack_panels(b, problem.m, columns, ProductTerms,
                               ProductColumns, begin, end, packed.get());
               });
    problem.b = packed.get();
    const std::ptrdiff_t elements = ProductRows * problem.columns;
    const std::size_t scratch = wide_scratch(problem);
    for_blocks(threads, problem.n, ProductRows, scratch + 2 * elements,
               [&](std::ptrdiff_t begin, std::ptrdiff_t end, float* own) {
                   auto* totals = reinterpret_cast<double*>(own + scratch);
                   wide_rows(problem, begin, own, totals);
                   for (std::ptrdiff_t i = begin; i < end; ++i)
                       for (std::ptrdiff_t e = 0; e < columns; ++e)
                           out[i * columns + e] =
                               float(totals[e * ProductRows + i - begin]);
               });
}

} // namespace

} // namespace roofline

int tilefold_roofline_wide_f32(std::int64_t n, std::int64_t m,
                               std::int64_t columns, const float* x,
                               const float* y, const float* b, double l,
                               float* out, int threads) {
    using namespace roofline;
    if (n < 0 || m < 0 || columns < 1)
        return TilefoldRooflineBadArgument;
    if ((n > 0 && (!x || !out)) || (m > 0 && (!y || !b)))
        return TilefoldRooflineBadArgument;
    const float scale = float(-std::numbers::log2e / (2 * l * l));
    return guarded([&] {
        run({n, m, round_up(columns, ProductColumns), x, y, nullptr, scale}, b,
            columns, threads_of(threads), out);
    });
}
