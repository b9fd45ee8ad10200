// compiler/ir/special.cpp - Bessel and polygamma functions of every double.
//
// Boost.Math has Bessel functions of any order, but where orders or numbers are
// extreme it throws whatever its policy says, gives NaN, loses digits, or
// iterates a million times; it is asked where it does none of these. Elsewhere:
//
//  1. Towards 0, J and I are the first term of their series. Y and K of x < 2
//     are by Temme's series (J. Comput. Phys. 19, 1975).
//  2. From 25 on, orders below 2 have Hankel's expansion (DLMF 10.17, 10.40).
//  3. Higher orders follow by the recurrence (DLMF 10.6.1, 10.29.1): upwards,
//     which is stable for Y and K, and for J while n < x.
//  4. Beyond 700, what I and K have in common with exp(x) is kept apart, and
//     beyond 1500 I is infinite and K is 0 for all orders.

#include "compiler/ir/special.h"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include <cmath>
#include <limits>

namespace tilefold::special {
namespace {

namespace policies = boost::math::policies;

using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>,
    policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>,
    policies::promote_double<false>>;

using std::cosh, std::exp, std::fabs, std::frexp, std::ldexp, std::log,
    std::pow, std::rint, std::sin, std::sinh;

#define __device__
#include "compiler/ir/series.cuh"
#undef __device__

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979324;
/// Beyond this order recurrences would take too long, and nobody asks.
constexpr double highest_order = 1000;
/// Below this, half of a number may be flushed to 0.
constexpr double tiny = 1e-290;
constexpr double near = 2, far = 25, exponential = 700, farthest = 1500;

bool is_whole(double n) {
    return std::floor(n) == n;
}

bool is_odd(double n) {
    return std::fmod(n, 2) != 0;
}

/// Whether the result is NaN: the order is absurd, or x < 0 where that is not
/// real.
bool is_outside(double n, double x, bool takes_negative) {
    return !(std::abs(n) <= highest_order) || std::isnan(x) ||
           (x < 0 && !takes_negative);
}

/// A product for which 0 times infinity is 0.
double product(double a, double b) {
    return a == 0 ? 0 : a * b;
}

double unscaled(Scaled a) {
    return std::ldexp(a.value, a.exponent);
}
Scaled exponential_of(double x) {
    constexpr double log_2 = 0x1.62e42fee00000p-1, rest = 0x1.a39ef35793c76p-33;
    const double whole = std::rint(x / (log_2 + rest));
    return {std::exp((x - whole * log_2) - whole * rest), int(whole)};
}

/// sin(πn) and cos(πn), exact where n is a multiple of 1/2.
struct Turn {
    double sine, cosine;
};
Turn half_turns(double n) {
    const double at = n - 2 * std::rint(n / 2), quarters = std::rint(2 * at);
    const double rest = pi * (at - quarters / 2);
    const double s = std::sin(rest), c = std::cos(rest);
    switch (int(quarters) & 3) {
    case 0:
        return {s, c};
    case 1:
        return {c, -s};
    case 2:
        return {-s, -c};
    default:
        return {-c, s};
    }
}

/// Returns the function of order `n` from those of the orders below, until it
/// is infinite; `sign` is that of the recurrence.
double recurred(double n, double x, Orders from, double sign) {
    while (from.order < n - 0.5 && std::isfinite(from.here)) {
        const double next =
            2 * (from.order + 1) / x * from.above + sign * from.here;
        from = {from.order + 1, from.above, next};
    }
    return from.here;
}

/// The even and the odd terms of Hankel's expansion, for n >= 0 and x beyond
/// 25, where n < 2 or x is beyond n².
struct Expansion {
    double even = 1, odd = 0;

    /// `sign` is that of even terms, -1 in those of J and Y.
    Expansion(double n, double x, double sign) {
        double term = 1;
        for (int k = 1; k < 60 && std::abs(term) > 1e-18; ++k) {
            const double root = 2 * k - 1;
            term *= (4 * n * n - root * root) / (k * 8 * x);
            (k % 2 ? odd : even) += k % 4 < 2 ? term : sign * term;
        }
    }
};

struct BesselJY {
    double j, y;
};
BesselJY expanded(double n, double x) {
    const Expansion sums(n, x, -1);
    const auto [sine, cosine] = half_turns(n / 2 + 0.25);
    const double c = std::cos(x) * cosine + std::sin(x) * sine;
    const double s = std::sin(x) * cosine - std::cos(x) * sine;
    const double size = std::sqrt(2 / pi) / std::sqrt(x);
    return {size * (sums.even * c - sums.odd * s),
            size * (sums.even * s + sums.odd * c)};
}

/// Returns (x/2)^n / Γ(n + 1), to which J and I tend towards 0, for an order
/// that is not whole.
double first_term(double n, double x) {
    if (n > 2 || (x == 0 && n > 0))
        return 0;
    if (n < -2 || x == 0)
        return is_odd(std::floor(-n)) ? -infinity : infinity;
    const double root = std::exp(n / 2 * (std::log(x) - std::log(2.0)));
    return root / std::tgamma(n + 1) * root;
}

/// Returns J of an order that is neither negative nor whole, for x > 0.
double positive_j(double n, double x) {
    if (x < tiny)
        return first_term(n, x);
    if (x < far || n >= x)
        return boost::math::cyl_bessel_j(n, x, Quiet());
    if (x > n * n)
        return expanded(n, x).j;
    const double first = n - std::floor(n);
    return recurred(
        n, x, {first, expanded(first, x).j, expanded(first + 1, x).j}, -1);
}

/// Returns Y of an order that is not negative, for x > 0.
double positive_y(double n, double x) {
    if (x < near)
        return -recurred(n, x, by_temme(n - std::rint(n), x, -1), -1);
    if (x >= far && x > n * n)
        return expanded(n, x).y;
    const double first = n - std::floor(n);
    const auto of = [&](double order) {
        return x < far ? boost::math::cyl_neumann(order, x, Quiet())
                       : expanded(order, x).y;
    };
    return recurred(n, x, {first, of(first), of(first + 1)}, -1);
}

/// K of the orders n and n + 1, times exp(x) and 2^-exponent.
struct ScaledK {
    double here, above;
    int exponent = 0;
};
ScaledK scaled_k(double n, double x) {
    const double first = n - std::floor(n);
    const auto of = [&](double order) {
        const Expansion sums(order, x, 1);
        return std::sqrt(pi / 2 / x) * (sums.even + sums.odd);
    };
    ScaledK k{of(first), of(first + 1)};
    for (double order = first; order < n - 0.5; ++order) {
        const double next = 2 * (order + 1) / x * k.above + k.here;
        k = {k.above, next, k.exponent};
        if (next > 0x1p500)
            k = {k.here * 0x1p-500, next * 0x1p-500, k.exponent + 500};
    }
    return k;
}

/// Returns K of an order that is not negative, for x > 0.
double positive_k(double n, double x) {
    if (x < near)
        return recurred(n, x, by_temme(n - std::rint(n), x, 1), 1);
    if (x < exponential) {
        const double first = n - std::floor(n);
        const auto of = [&](double order) {
            return boost::math::cyl_bessel_k(order, x, Quiet());
        };
        return recurred(n, x, {first, of(first), of(first + 1)}, 1);
    }
    const ScaledK k = scaled_k(n, x);
    const Scaled e = exponential_of(-x);
    return std::ldexp(k.here * e.value, k.exponent + e.exponent);
}

/// Returns I of an order that is not negative, for x from 700 on, by the ratio
/// of I of n + 1 and n, from far above, and the Wronskian (DLMF 10.28.2).
double far_i(double n, double x) {
    double ratio = 0;
    for (int k = 40 + int(std::sqrt(80 * x)); k > 0; --k)
        ratio = 1 / (2 * (n + k) / x + ratio);
    const ScaledK k = scaled_k(n, x);
    const Scaled e = exponential_of(x);
    return std::ldexp(e.value / (x * (k.above + ratio * k.here)),
                      e.exponent - k.exponent);
}

double positive_polygamma(int n, double x) {
    if (n == 0)
        return boost::math::digamma(x, Quiet());
    if (n == 1)
        return boost::math::trigamma(x, Quiet());
    const double sum = unscaled(sum_of_powers(n, x));
    return is_odd(n) ? sum : -sum;
}

/// Returns π cot(πx).
double cotangent(double x) {
    const double from_whole = x - std::rint(x), size = std::abs(from_whole);
    const double value =
        size > 0.25 ? std::tan(pi * (0.5 - size)) : 1 / std::tan(pi * size);
    return std::copysign(pi * value, from_whole);
}

double negative_polygamma(int n, double x) {
    return n == 0 ? positive_polygamma(n, 1 - x) - cotangent(x)
                  : unscaled(polygamma_of_negative(n, x));
}

} // namespace

double floor_remainder(double a, double b) noexcept {
    double rest = std::fmod(a, b);
    if (rest != 0 && std::signbit(rest) != std::signbit(b))
        rest += b;
    return rest == 0 ? std::copysign(0.0, b) : rest;
}

double polygamma(double n, double x) noexcept {
    const bool is_pole = x <= 0 && is_whole(x);
    if (!is_whole(n) || n < 0 || is_outside(n, x, true) || is_pole)
        return nan;
    if (std::isinf(x))
        return n == 0 ? infinity : 0;
    return x > 0 ? positive_polygamma(int(n), x)
                 : negative_polygamma(int(n), x);
}

double inverse_error(double x) noexcept {
    if (!(std::fabs(x) < 1))
        return std::fabs(x) == 1 ? x * infinity : nan;
    return boost::math::erf_inv(x, Quiet());
}

double bessel_j(double n, double x) noexcept {
    if (is_outside(n, x, is_whole(n)))
        return nan;
    if (std::isinf(x))
        return 0;
    if (is_whole(n))
        return boost::math::cyl_bessel_j(int(n), x, Quiet());
    if (n > 0)
        return positive_j(n, x);
    if (x < tiny)
        return first_term(n, x);
    const auto [sine, cosine] = half_turns(-n);
    return cosine * positive_j(-n, x) - product(sine, positive_y(-n, x));
}

double bessel_y(double n, double x) noexcept {
    if (is_outside(n, x, false))
        return nan;
    if (std::isinf(x))
        return 0;
    const auto [sine, cosine] = half_turns(n < 0 ? -n : 0);
    if (x == 0)
        return -product(cosine, infinity);
    const double y = product(cosine, positive_y(std::abs(n), x));
    return sine == 0 ? y : y + sine * positive_j(-n, x);
}

double bessel_i(double n, double x) noexcept {
    const bool whole = is_whole(n);
    if (is_outside(n, x, whole))
        return nan;
    const double size = std::abs(x);
    if (size >= exponential) {
        const double value =
            size > farthest ? infinity : far_i(std::abs(n), size);
        return x < 0 && is_odd(n) ? -value : value;
    }
    if (!whole)
        return x < tiny ? first_term(n, x)
                        : boost::math::cyl_bessel_i(n, x, Quiet());
    if (size < tiny)
        return n == 0 ? 1 : std::abs(n) == 1 ? x / 2 : 0;
    return boost::math::cyl_bessel_i(int(n), x, Quiet());
}

double bessel_k(double n, double x) noexcept {
    if (is_outside(n, x, false))
        return nan;
    if (x == 0)
        return infinity;
    return x > farthest ? 0 : positive_k(std::abs(n), x);
}

} // namespace tilefold::special
