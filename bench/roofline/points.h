// bench/roofline/points.h - random points, and the error of a Gaussian sum.
#pragma once

#include "gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace roofline {

inline int gaussian_sum(std::int64_t n, std::int64_t m, std::int64_t d,
                        const float* x, const float* y, const float* b,
                        double l, float* out, int threads) {
    return tilefold_roofline_gaussian_f32(n, m, d, x, y, b, l, out, threads);
}
inline int gaussian_sum(std::int64_t n, std::int64_t m, std::int64_t d,
                        const double* x, const double* y, const double* b,
                        double l, double* out, int threads) {
    return tilefold_roofline_gaussian_f64(n, m, d, x, y, b, l, out, threads);
}

/// Points and weights uniform in the unit cube. l is about 0.6 of the mean
/// distance, so most exponents are near -1.
template <class T> struct Points {
    int n, m, d;
    double l;
    std::vector<T> x, y, b, out;

    Points(int n, int m, int d)
        : n(n), m(m), d(d), l(0.25 * std::sqrt(d)), x(n * d), y(m * d), b(m),
          out(n, T(-1)) {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<T> uniform(0, 1);
        for (auto* v : {&x, &y, &b})
            for (T& element : *v)
                element = uniform(random);
    }

    /// Leaves the process if the library refuses.
    void run(int threads) {
        if (gaussian_sum(n, m, d, x.data(), y.data(), b.data(), l, out.data(),
                         threads) != TilefoldRooflineOk)
            std::exit(1);
    }

    /// The largest relative error of out over every stride-th row, against
    /// long double; the terms are positive, so no sum is ill-conditioned.
    double error(int stride) const {
        double worst = 0;
        for (int i = 0; i < n; i += stride) {
            const long double sum = exact(i);
            const double difference = double(std::fabs(out[i] - sum));
            // Also false, so reported, when out is NaN.
            if (!(difference == 0))
                worst = std::max(worst, double(difference / sum));
            if (std::isnan(out[i]))
                return INFINITY;
        }
        return worst;
    }

    long double exact(int i) const {
        long double sum = 0;
        for (int j = 0; j < m; ++j) {
            long double d2 = 0;
            for (int k = 0; k < d; ++k) {
                long double t = (long double)(x[i * d + k]) - y[j * d + k];
                d2 += t * t;
            }
            sum += std::exp(-d2 / (2 * (long double)(l)*l)) * b[j];
        }
        return sum;
    }
};

} // namespace roofline
