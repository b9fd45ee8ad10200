// compiler/special.cpp - Boost.Math with errors as infinities and NaN.

#include "compiler/special.h"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/polygamma.hpp>

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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Beyond, recurrences would take too long, and nobody asks.
constexpr double highest_order = 1000;

/// `function(n, x)` of a whole order that is not absurd.
template <class Function>
double of_order(double n, double x, Function function) noexcept {
    const double order = std::floor(n);
    if (!(std::abs(order) <= highest_order) || std::isnan(x))
        return nan;
    return function(int(order), x);
}

/// The same of a function of x > 0 that has a pole at 0.
template <class Function>
double of_positive(double n, double x, double at_0,
                   Function function) noexcept {
    return of_order(n, x, [&](int order, double at) {
        if (at <= 0)
            return at == 0 ? at_0 : nan;
        return function(order, at);
    });
}

} // namespace

double polygamma(double n, double x) noexcept {
    return of_order(n, x, [](int order, double at) {
        return order < 0 || !std::isfinite(at)
                   ? nan
                   : boost::math::polygamma(order, at, Quiet());
    });
}

double bessel_j(double n, double x) noexcept {
    return of_order(n, x, [](int order, double at) {
        return boost::math::cyl_bessel_j(order, at, Quiet());
    });
}

double bessel_y(double n, double x) noexcept {
    return of_positive(n, x, -infinity, [](int order, double at) {
        return boost::math::cyl_neumann(order, at, Quiet());
    });
}

double bessel_i(double n, double x) noexcept {
    return of_order(n, x, [](int order, double at) {
        return boost::math::cyl_bessel_i(order, at, Quiet());
    });
}

double bessel_k(double n, double x) noexcept {
    return of_positive(n, x, infinity, [](int order, double at) {
        return boost::math::cyl_bessel_k(order, at, Quiet());
    });
}

} // namespace tilefold::special
