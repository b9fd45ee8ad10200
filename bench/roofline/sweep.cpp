// bench/roofline/sweep.cpp - correctness at the sizes where tails go wrong.

#include "sweep.h"
#include "points.h"

#include <cstdio>
#include <cstring>
#include <limits>

namespace roofline {

namespace {

template <class T> const char* name();
template <> const char* name<float>() {
    return "f32";
}
template <> const char* name<double>() {
    return "f64";
}

template <class T> bool right(int n, int m, int d) {
    Points<T> points(n, m, d);
    points.run(1);
    const std::vector<T> one = points.out;
    const double error = points.error(n > 100 ? 53 : 1);
    bool same = true;
    for (int threads : {2, 3, 8}) {
        points.run(threads);
        same &= n == 0 ||
                std::memcmp(one.data(), points.out.data(), n * sizeof(T)) == 0;
    }
    if (same && error < 16 * std::numeric_limits<T>::epsilon())
        return true;
    std::printf("%s n=%d m=%d d=%d WRONG: error %.1e, bits %s\n", name<T>(), n,
                m, d, error, same ? "same" : "depend on the threads");
    return false;
}

template <class T> bool sizes() {
    const int lengths[] = {0, 1, 7, 8, 9, 15, 17, 63, 65, 252, 253, 257};
    for (int d : {1, 2, 3, 4, 16, 65})
        for (int n : lengths)
            for (int m : lengths)
                if (!right<T>(n, m, d))
                    return false;
    for (int d : {3, 5})
        for (int n : {1023, 1025, 2049})
            for (int m : {2047, 2049, 5000})
                if (!right<T>(n, m, d))
                    return false;
    return true;
}

/// out of three rows against two columns in d dimensions, where row 0 has x in
/// every coordinate and row 1 lies on column 0.
template <class T> std::vector<T> three_rows(T x, int d) {
    std::vector<T> rows(3 * d, T(0.5)), columns(2 * d, T(0.5)), out(3);
    const T b[] = {1, 2};
    for (int k = 0; k < d; ++k) {
        rows[k] = x;
        columns[d + k] = T(0.75);
    }
    if (gaussian_sum(3, 2, d, rows.data(), columns.data(), b, 1e-3, out.data(),
                     1) != TilefoldRooflineOk)
        std::exit(1);
    return out;
}

/// Infinite and far rows give 0, a NaN gives NaN in its own row only.
template <class T> bool limits() {
    using Limits = std::numeric_limits<T>;
    for (int d : {2, 3, 16})
        for (T x : {Limits::infinity(), -Limits::infinity(), Limits::max(),
                    T(1e9), Limits::quiet_NaN()}) {
            const std::vector<T> out = three_rows(x, d);
            const bool first = std::isnan(x) ? std::isnan(out[0]) : out[0] == 0;
            if (!first || out[1] != 1 || out[2] != 1) {
                std::printf("%s d=%d x=%g WRONG: %g %g %g\n", name<T>(), d,
                            double(x), double(out[0]), double(out[1]),
                            double(out[2]));
                return false;
            }
        }
    return true;
}

} // namespace

bool sweep() {
    bool good = sizes<float>();
    good &= sizes<double>();
    good &= limits<float>();
    good &= limits<double>();
    return good;
}

} // namespace roofline
