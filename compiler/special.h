// compiler/special.h - rare functions on doubles, by Boost.Math: the reference
// of every backend, and what kernels call lane by lane.
//
// The order n is rounded down to a whole number. None throws: poles and
// arguments outside the domain give infinities or NaN. Safe on any thread.
#pragma once

namespace tilefold::special {

/// Derivative n + 1 of log |Γ(x)|, n >= 0; digamma for n = 0.
double polygamma(double n, double x) noexcept;
/// Bessel functions of whole order n: J, Y (x > 0), I and K (x > 0).
double bessel_j(double n, double x) noexcept;
double bessel_y(double n, double x) noexcept;
double bessel_i(double n, double x) noexcept;
double bessel_k(double n, double x) noexcept;

} // namespace tilefold::special
