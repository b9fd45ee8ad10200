// bench/roofline/nearest.cpp - packs the columns, then blocks of rows.
//
// The kernels are for finite coordinates, whose squares are never NaN. Others
// are looked for beforehand, in n + m steps, and take a plain loop.

#include "nearest.h"
#include "call.h"
#include "panels.h"
#include "sieve.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace roofline {

namespace {

bool all_finite(const float* values, std::ptrdiff_t count) {
    float sum = 0;
    for (std::ptrdiff_t k = 0; k < count; ++k)
        sum += values[k] * 0.0f;
    return sum == 0;
}

/// |x_i - y_j|^2 with the roundings of the kernels.
float square(const NearestProblem& p, std::ptrdiff_t i, std::ptrdiff_t j) {
    float sum = 0;
    for (std::ptrdiff_t k = 0; k < p.d; ++k) {
        const float t = p.x[i * p.d + k] - p.y[j * p.d + k];
        sum = std::fma(t, t, sum);
    }
    return sum;
}

std::int64_t plain_argmin(const NearestProblem& p, std::ptrdiff_t i) {
    std::int64_t place = 0;
    float least = square(p, i, 0);
    for (std::ptrdiff_t j = 1; j < p.m && !std::isnan(least); ++j)
        if (const float d2 = square(p, i, j); d2 < least || std::isnan(d2)) {
            least = d2;
            place = j;
        }
    return place;
}

float plain_max(const NearestProblem& p, std::ptrdiff_t i) {
    float most = square(p, i, 0);
    for (std::ptrdiff_t j = 1; j < p.m && !std::isnan(most); ++j)
        if (const float d2 = square(p, i, j); d2 > most || std::isnan(d2))
            most = d2;
    return most;
}

void plain_nearest(const NearestProblem& p, std::ptrdiff_t i,
                   std::ptrdiff_t count, std::int64_t* out) {
    std::vector<float> squares(p.m);
    for (std::ptrdiff_t j = 0; j < p.m; ++j)
        squares[j] = square(p, i, j);
    std::vector<std::int64_t> order(p.m);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) {
                         if (std::isnan(squares[b]))
                             return !std::isnan(squares[a]);
                         return squares[a] < squares[b];
                     });
    std::copy_n(order.begin(), count, out);
}

/// kernel(begin, scratch) for blocks of rows, or plain(i) for each row; sets
/// `groups` of the problem before, and then calls prepare().
template <class Prepare, class Kernel, class Plain>
void run(NearestProblem& p, int asked, Prepare prepare, Kernel kernel,
         Plain plain) {
    const int threads = threads_of(asked);
    if (!all_finite(p.x, p.n * p.d) || !all_finite(p.y, p.m * p.d)) {
        for_blocks(threads, p.n, 1, 0,
                   [&](std::ptrdiff_t i, std::ptrdiff_t, float*) { plain(i); });
        return;
    }
    auto groups = aligned<float>(p.count() * NearestGroup * p.d);
    p.groups = groups.get();
    for_blocks(threads, p.m, NearestGroup, 0,
               [&](std::ptrdiff_t begin, std::ptrdiff_t end, float*) {
                   pack_transposed(p.y, p.m, p.d, NearestGroup, begin, end,
                                   groups.get());
               });
    prepare();
    for_blocks(threads, p.n, NearestRows, nearest_scratch(p),
               [&](std::ptrdiff_t begin, std::ptrdiff_t, float* scratch) {
                   kernel(begin, scratch);
               });
}

/// The sieve of a problem whose groups are packed.
class Sieve {
public:
    explicit Sieve(const NearestProblem& p)
        : words_(aligned<std::uint32_t>(p.count() * NearestGroup *
                                        sieve_words(p.d))),
          halves_(aligned<float>(p.count() * NearestGroup)),
          sieve_{words_.get(), halves_.get(), 0, 0} {
        const std::ptrdiff_t step = NearestGroup * sieve_words(p.d);
        for (std::ptrdiff_t g = 0; g < p.count(); ++g)
            pack_sieve(p, g, words_.get() + g * step,
                       halves_.get() + g * NearestGroup, sieve_.length,
                       sieve_.error);
    }
    const NearestSieve* get() const { return &sieve_; }
    /// Squares of what is larger may be no numbers.
    static bool helps(const NearestProblem& p) {
        const auto is_small = [](float x) { return std::fabs(x) < 1e15f; };
        return p.d >= SieveLeastCoordinates &&
               __builtin_cpu_supports("avx512bf16") &&
               std::all_of(p.x, p.x + p.n * p.d, is_small) &&
               std::all_of(p.y, p.y + p.m * p.d, is_small);
    }

private:
    Aligned<std::uint32_t> words_;
    Aligned<float> halves_;
    NearestSieve sieve_;
};

bool is_bad(const NearestProblem& p, const void* out) {
    return p.n < 0 || p.m < 1 || p.d < 1 || !p.y || (p.n > 0 && (!p.x || !out));
}

} // namespace

} // namespace roofline

using namespace roofline;

int tilefold_roofline_argmin_f32(std::int64_t n, std::int64_t m, std::int64_t d,
                                 const float* x, const float* y,
                                 std::int64_t* out, int threads) {
    NearestProblem p = {n, m, d, x, y, nullptr};
    if (is_bad(p, out))
        return TilefoldRooflineBadArgument;
    return guarded([&] {
        run(
            p, threads, [] {},
            [&](std::ptrdiff_t i, float* s) { argmin_rows(p, i, s, out + i); },
            [&](std::ptrdiff_t i) { out[i] = plain_argmin(p, i); });
    });
}

int tilefold_roofline_max_f32(std::int64_t n, std::int64_t m, std::int64_t d,
                              const float* x, const float* y, float* out,
                              int threads) {
    NearestProblem p = {n, m, d, x, y, nullptr};
    if (is_bad(p, out))
        return TilefoldRooflineBadArgument;
    return guarded([&] {
        run(
            p, threads, [] {},
            [&](std::ptrdiff_t i, float* s) { max_rows(p, i, s, out + i); },
            [&](std::ptrdiff_t i) { out[i] = plain_max(p, i); });
    });
}

int tilefold_roofline_nearest_f32(std::int64_t n, std::int64_t m,
                                  std::int64_t d, std::int64_t count,
                                  const float* x, const float* y,
                                  std::int64_t* out, int threads) {
    NearestProblem p = {n, m, d, x, y, nullptr};
    if (is_bad(p, out) || count < 1 || count > MostNearest || count > m)
        return TilefoldRooflineBadArgument;
    return guarded([&] {
        std::optional<Sieve> sieve;
        run(
            p, threads,
            [&] {
                if (Sieve::helps(p))
                    p.sieve = sieve.emplace(p).get();
            },
            [&](std::ptrdiff_t i, float* s) {
                nearest_rows(p, i, count, s, out + i * count);
            },
            [&](std::ptrdiff_t i) {
                plain_nearest(p, i, count, out + i * count);
            });
    });
}
