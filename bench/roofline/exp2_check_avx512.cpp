// bench/roofline/exp2_check_avx512.cpp - measures the kernels' exp2.

#include "exp2_check.h"
#include "lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace roofline {

namespace {

/// A wider type to compare with, and the k-th argument: past the end, the end.
template <class T> struct Wider;

template <> struct Wider<float> {
    using Real = double;
    static constexpr float Last = -151; // exp2 of it rounds to 0
    static float argument(std::uint64_t k) {
        const auto first = std::bit_cast<std::uint32_t>(-0.0f);
        const auto last = std::bit_cast<std::uint32_t>(Last);
        return std::bit_cast<float>(
            std::uint32_t(std::min<std::uint64_t>(first + k, last)));
    }
};

template <> struct Wider<double> {
    using Real = long double; // 64 bits of mantissa: good to 0.001 ulp
    static constexpr double Last = -1076;
    static double argument(std::uint64_t k) {
        // Not a power of two, so that the low bits vary.
        return std::max(Last, double(k) * -0x1.0001234567891p-17);
    }
};

/// One unit in the last place of a T of this value.
template <class T> typename Wider<T>::Real ulp(typename Wider<T>::Real value) {
    using Limits = std::numeric_limits<T>;
    int exponent;
    std::frexp(value, &exponent);
    exponent = std::max(exponent, Limits::min_exponent);
    return std::ldexp(typename Wider<T>::Real(1), exponent - Limits::digits);
}

template <class T> void exp2_all(T* values) {
    using L = Lanes<T>;
    alignas(64) T result[L::Width];
    std::copy_n(values, L::Width, result);
    auto e = exp2<T>(L::load(result));
    std::copy_n(reinterpret_cast<const T*>(&e), L::Width, values);
}

template <class T> bool check_limits() {
    const T inf = std::numeric_limits<T>::infinity();
    const T largest = std::numeric_limits<T>::max();
    T v[16] = {
        -inf,         T(-0.0), 0,       -largest,
        -largest / 2, T(-1e5), T(-3e7), std::numeric_limits<T>::quiet_NaN()};
    exp2_all(v);
    return v[0] == 0 && v[1] == 1 && v[2] == 1 && v[3] == 0 && v[4] == 0 &&
           v[5] == 0 && v[6] == 0 && std::isnan(v[7]);
}

} // namespace

template <class T> Exp2Error check_exp2(unsigned stride) {
    constexpr int width = Lanes<T>::Width;
    Exp2Error worst = {0, 0, check_limits<T>()};
    T u[width] = {}, e[width];
    for (std::uint64_t next = 0; u[width - 1] != Wider<T>::Last;) {
        for (T& argument : u) {
            argument = Wider<T>::argument(next);
            next += stride;
        }
        std::copy_n(u, width, e);
        exp2_all(e);
        for (int k = 0; k < width; ++k) {
            using Real = typename Wider<T>::Real;
            const Real exact = std::exp2(Real(u[k]));
            const double error =
                double(std::fabs(Real(e[k]) - exact) / ulp<T>(exact));
            const bool normal = exact >= std::numeric_limits<T>::min();
            double& slot = normal ? worst.normal : worst.subnormal;
            slot = std::max(slot, error);
        }
    }
    return worst;
}

template Exp2Error check_exp2<float>(unsigned);
template Exp2Error check_exp2<double>(unsigned);

} // namespace roofline
