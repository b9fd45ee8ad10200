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

/// `function(n, x)`, with an int for a whole order, of an order that is not
/// absurd and a finite x.
template <class Function>
double of_order(double n, double x, double at_infinity,
                Function function) noexcept {
    if (!(std::abs(n) <= highest_order) || std::isnan(x))
        return nan;
    if (std::isinf(x))
        return at_infinity;
    return std::floor(n) == n ? function(int(n), x) : function(n, x);
}

/// J or I of an order that is not whole is real for x >= 0 only. Towards 0 it
/// is (x/2)^n / Γ(n + 1).
template <class Function>
double of_first_kind(double n, double x, double at_infinity,
                     Function function) noexcept {
    const bool is_whole = std::floor(n) == n;
    if (!is_whole && x < 0)
        return nan;
    if (!is_whole && n < 0 && x == 0)
        return std::fmod(std::floor(-n), 2) == 0 ? infinity : -infinity;
    return of_order(n, x, at_infinity, function);
}

/// The same of a function of x > 0 that has a pole at 0.
template <class Function>
double of_positive(double n, double x, double at_0,
                   Function function) noexcept {
    if (x < 0)
        return nan;
    return of_order(n, x, 0, [&](auto order, double at) {
        return at == 0 ? at_0 : function(order, at);
    });
}

/// Y towards 0. Of -n it is sin(nπ) J + cos(nπ) Y of n.
double bessel_y_at_0(double n) {
    if (n >= 0)
        return -infinity;
    const double turns = std::fmod(-n, 2); // of π
    if (turns == 0.5 || turns == 1.5)
        return 0;
    return turns > 0.5 && turns < 1.5 ? infinity : -infinity;
}

} // namespace

double polygamma(double n, double x) noexcept {
    if (std::floor(n) != n)
        return nan;
    return of_order(n, x, nan, [](auto order, double at) {
        return order < 0 ? nan
                         : boost::math::polygamma(int(order), at, Quiet());
    });
}

double bessel_j(double n, double x) noexcept {
    return of_first_kind(n, x, 0, [](auto order, double at) {
        return boost::math::cyl_bessel_j(order, at, Quiet());
    });
}

double bessel_y(double n, double x) noexcept {
    return of_positive(n, x, bessel_y_at_0(n), [](auto order, double at) {
        return boost::math::cyl_neumann(order, at, Quiet());
    });
}

double bessel_i(double n, double x) noexcept {
    const bool is_odd = std::fmod(n, 2) != 0;
    const double far = x < 0 && is_odd ? -infinity : infinity;
    return of_first_kind(n, x, far, [](auto order, double at) {
        return boost::math::cyl_bessel_i(order, at, Quiet());
    });
}

double bessel_k(double n, double x) noexcept {
    return of_positive(n, x, infinity, [](auto order, double at) {
        return boost::math::cyl_bessel_k(order, at, Quiet());
    });
}

} // namespace tilefold::special
