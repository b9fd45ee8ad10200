// compiler/ir/special.h - rare functions on doubles, by Boost.Math: the
// reference of every backend, and what kernels call lane by lane.
//
// They take any doubles, need some 10 µs and work in any floating-point mode.
// Orders n are at most 1000 in magnitude, beyond which the result is NaN, as
// it is outside the domain. They are safe on any thread.
#pragma once

namespace tilefold::special {

/// Returns derivative n + 1 of log |Γ(x)|, n >= 0; digamma for n = 0. It is
/// NaN where n is not whole, and at the poles, x = 0, -1, …
double polygamma(double n, double x) noexcept;
/// Returns y of erf(y) = x: infinite at ±1, NaN beyond.
double inverse_error(double x) noexcept;
/// Returns a - b floor(a / b), exact: with the sign of b, as Python's %.
double floor_remainder(double a, double b) noexcept;
/// These are the Bessel functions of real order n: J and I (of x < 0 where n
/// is whole), Y and K (x > 0).
double bessel_j(double n, double x) noexcept;
double bessel_y(double n, double x) noexcept;
double bessel_i(double n, double x) noexcept;
double bessel_k(double n, double x) noexcept;

} // namespace tilefold::special
