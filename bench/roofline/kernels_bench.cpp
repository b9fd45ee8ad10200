// bench/roofline/kernels_bench.cpp - the kernels beside the Gaussian sum.
//
// Each is checked against long double on some rows before it is timed.

#include "kernels_bench.h"
#include "attention.h"
#include "batches.h"
#include "logsumexp.h"
#include "nearest.h"
#include "wide.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace roofline {

namespace {

constexpr int Stride = 997; // of the rows that are checked

std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<float> made(count);
    for (float& value : made)
        value = uniform(random);
    return made;
}

/// Leaves the process if the library refuses.
void expect_ok(int code) {
    if (code != TilefoldRooflineOk)
        std::exit(1);
}

/// Two clouds of n points.
struct Clouds {
    int n, d;
    std::vector<float> x, y;

    Clouds(int n, int d)
        : n(n), d(d), x(numbers(std::size_t(n) * d, 1)),
          y(numbers(std::size_t(n) * d, 2)) {}

    long double square(int i, int j) const {
        long double sum = 0;
        for (int k = 0; k < d; ++k) {
            const long double t = (long double)(x[i * d + k]) - y[j * d + k];
            sum += t * t;
        }
        return sum;
    }

    std::vector<long double> squares(int i) const {
        std::vector<long double> row(n);
        for (int j = 0; j < n; ++j)
            row[j] = square(i, j);
        return row;
    }

    double pairs() const { return double(n) * n; }
};

bool report(const std::string& name, double error, double limit) {
    if (error <= limit)
        return true;
    std::printf("%s WRONG: error %.1e\n", name.c_str(), error);
    return false;
}

bool run_wide(const Effort& effort, int columns) {
    const Clouds clouds(6144, 3);
    const auto b = numbers(std::size_t(clouds.n) * columns, 3);
    std::vector<float> out(b.size());
    const double l = 0.5;
    auto run = [&](int threads) {
        expect_ok(tilefold_roofline_wide_f32(clouds.n, clouds.n, columns,
                                             clouds.x.data(), clouds.y.data(),
                                             b.data(), l, out.data(), threads));
    };
    run(effort.threads);
    double error = 0;
    for (int i = 0; i < clouds.n; i += Stride) {
        const auto squares = clouds.squares(i);
        for (int e = 0; e < columns; e += 7) {
            long double sum = 0;
            for (int j = 0; j < clouds.n; ++j)
                sum += std::exp(-squares[j] / (2 * l * l)) * b[j * columns + e];
            error = std::max(error,
                             double(std::fabs(out[i * columns + e] / sum - 1)));
        }
    }
    const std::string name = "wide E=" + std::to_string(columns);
    if (!report(name, error, 2e-6))
        return false;
    const Mix mix = Mix{4.0 + columns, 3} + exp2_mix(true);
    print_row(name.c_str(), effort, clouds.pairs(), bound(mix), error, run);
    return true;
}

bool run_batches(const Effort& effort) {
    const int batches = 10000, n = 30;
    const auto x = numbers(3 * n * batches, 1), y = numbers(3 * n * batches, 2);
    const auto b = numbers(n * batches, 3);
    std::vector<float> out(b.size());
    const double l = 0.5;
    auto run = [&](int threads) {
        expect_ok(tilefold_roofline_batches_f32(batches, n, n, x.data(),
                                                y.data(), b.data(), l,
                                                out.data(), threads));
    };
    run(effort.threads);
    double error = 0;
    for (int i = 0; i < n * batches; i += Stride) {
        long double sum = 0;
        for (int j = i / n * n; j < i / n * n + n; ++j) {
            long double square = 0;
            for (int k = 0; k < 3; ++k) {
                const long double t =
                    (long double)(x[3 * i + k]) - y[3 * j + k];
                square += t * t;
            }
            sum += std::exp(-square / (2 * l * l)) * b[j];
        }
        error = std::max(error, double(std::fabs(out[i] / sum - 1)));
    }
    if (!report("batches", error, 2e-6))
        return false;
    const Mix mix = Mix{5, 3} + exp2_mix(true);
    print_row("batches 30 x 30", effort, double(n) * n * batches,
              bound(mix) * 32 / n, error, run);
    return true;
}

/// The upper halves, and the numbers that they are.
std::vector<std::uint16_t> halves(std::vector<float>& values) {
    std::vector<std::uint16_t> bits;
    for (float& value : values) {
        const auto half =
            std::uint16_t(std::bit_cast<std::uint32_t>(value) >> 16);
        bits.push_back(half);
        value = std::bit_cast<float>(std::uint32_t(half) << 16);
    }
    return bits;
}

bool run_attention(const Effort& effort, bool half) {
    const int n = 4096, d = 64;
    auto q = numbers(n * d, 1), k = numbers(n * d, 2), v = numbers(n * d, 3);
    const auto q16 = halves(q), k16 = halves(k), v16 = halves(v);
    std::vector<float> out(q.size());
    auto run = [&](int threads) {
        expect_ok(half ? tilefold_roofline_attention_bf16(
                             n, n, d, d, q16.data(), k16.data(), v16.data(),
                             out.data(), ScoresAsFast, threads)
                       : tilefold_roofline_attention_f32(n, n, d, d, q.data(),
                                                         k.data(), v.data(),
                                                         out.data(), threads));
    };
    run(effort.threads);
    double error = 0;
    for (int i = 0; i < n; i += Stride) {
        std::vector<long double> sums(d + 1, 0.0L);
        for (int j = 0; j < n; ++j) {
            long double score = 0;
            for (int c = 0; c < d; ++c)
                score += (long double)(q[i * d + c]) * k[j * d + c];
            const long double weight = std::exp(score / 8);
            for (int c = 0; c < d; ++c)
                sums[c] += weight * v[j * d + c];
            sums[d] += weight;
        }
        for (int c = 0; c < d; ++c)
            error = std::max(
                error,
                double(std::fabs(out[i * d + c] * sums[d] / sums[c] - 1)));
    }
    const bool pairs = half && __builtin_cpu_supports("avx512bf16") &&
                       !__builtin_cpu_is("intel");
    const char* name = half ? "attention bf16" : "attention D=64";
    if (!report(name, error, 2e-6))
        return false;
    const Mix mix = Mix{d * (pairs ? 1.5 : 2.0) + 1, 1} + exp2_mix(true);
    print_row(name, effort, double(n) * n, bound(mix), error, run);
    return true;
}

/// out[i * count ...] against the order of the exact squares.
double error_of_places(const Clouds& clouds, const std::int64_t* out,
                       int count) {
    double error = 0;
    for (int i = 0; i < clouds.n; i += Stride) {
        const auto squares = clouds.squares(i);
        auto sorted = squares;
        std::nth_element(sorted.begin(), sorted.begin() + count, sorted.end());
        std::sort(sorted.begin(), sorted.begin() + count);
        for (int k = 0; k < count; ++k)
            error = std::max(
                error,
                double(std::fabs(squares[out[i * count + k]] - sorted[k]) /
                       sorted[count - 1]));
    }
    return error;
}

bool run_nearest(const Effort& effort, int d, int n) {
    const Clouds clouds(n, d);
    const int count = 10;
    std::vector<std::int64_t> out(std::size_t(n) * count);
    auto run = [&](int threads) {
        expect_ok(tilefold_roofline_nearest_f32(n, n, d, count, clouds.x.data(),
                                                clouds.y.data(), out.data(),
                                                threads));
    };
    run(effort.threads);
    const double error = error_of_places(clouds, out.data(), count);
    const std::string name = "10 nearest D=" + std::to_string(d);
    if (!report(name, error, 1e-5))
        return false;
    // Intel's products of bf16 have one port of the two.
    const bool sieved = d >= 32 && __builtin_cpu_supports("avx512bf16");
    const double products =
        d / (sieved && !__builtin_cpu_is("intel") ? 2. : 1.);
    const Mix mix = {products, sieved ? 1. : d + 1.};
    print_row(name.c_str(), effort, clouds.pairs(), bound(mix), error, run);
    return true;
}

bool run_logsumexp(const Effort& effort) {
    const Clouds clouds(16384, 3);
    std::vector<float> out(clouds.n);
    auto run = [&](int threads) {
        expect_ok(tilefold_roofline_logsumexp_f32(
            clouds.n, clouds.n, clouds.x.data(), clouds.y.data(), out.data(),
            threads));
    };
    run(effort.threads);
    double error = 0;
    for (int i = 0; i < clouds.n; i += Stride) {
        long double sum = 0;
        for (long double square : clouds.squares(i))
            sum += std::exp(-square / 2);
        error = std::max(error, double(std::fabs(out[i] / std::log(sum) - 1)));
    }
    if (!report("logsumexp", error, 1e-6))
        return false;
    const Mix mix = Mix{5, 3} + exp2_mix(true);
    print_row("logsumexp D=3", effort, clouds.pairs(), bound(mix), error, run);
    return true;
}

bool run_extremes(const Effort& effort) {
    const Clouds clouds(16384, 3);
    const int n = clouds.n;
    std::vector<std::int64_t> places(n);
    std::vector<float> largest(n);
    const float *x = clouds.x.data(), *y = clouds.y.data();
    auto argmin = [&](int threads) {
        expect_ok(tilefold_roofline_argmin_f32(n, n, 3, x, y, places.data(),
                                               threads));
    };
    auto max = [&](int threads) {
        expect_ok(
            tilefold_roofline_max_f32(n, n, 3, x, y, largest.data(), threads));
    };
    argmin(effort.threads);
    max(effort.threads);
    const double error = error_of_places(clouds, places.data(), 1);
    double max_error = 0;
    for (int i = 0; i < n; i += Stride) {
        const auto squares = clouds.squares(i);
        const long double exact =
            *std::max_element(squares.begin(), squares.end());
        max_error =
            std::max(max_error, double(std::fabs(largest[i] / exact - 1)));
    }
    if (!report("argmin", error, 1e-5) || !report("max", max_error, 1e-6))
        return false;
    const double cycles = bound(Mix{3, 4});
    print_row("argmin D=3", effort, clouds.pairs(), cycles, error, argmin);
    print_row("max D=3", effort, clouds.pairs(), cycles, max_error, max);
    return true;
}

} // namespace

bool run_kernels(const Effort& effort) {
    bool good = run_wide(effort, 64);
    good &= run_attention(effort, false);
    good &= run_attention(effort, true);
    good &= run_batches(effort);
    good &= run_logsumexp(effort);
    good &= run_extremes(effort);
    good &= run_nearest(effort, 3, 16384);
    good &= run_nearest(effort, 16, 10240);
    good &= run_nearest(effort, 64, 10240);
    return good;
}

} // namespace roofline
