// compiler/ir/series.cuh - series of rare functions, in double, which hosts and
// cards compute with: special.cpp includes this, and code for a card has it as
// text.

/// 1/Γ(1 + n) of |n| <= 1/2 is even + n*odd.
static __device__ void inverse_gamma(double n, double& even, double& odd) {
    constexpr double terms[] = {
        7.78226343990507125e-12, 1.04342671169110051e-10,
        -1.18127457048702014e-9, 5.00200764446922293e-9,
        6.11609510448141582e-9, -2.0563384169776071e-7,
        1.13302723198169588e-6, -1.25049348214267066e-6,
        -2.01348547807882387e-5, 1.28050282388116186e-4,
        -2.15241674114950973e-4, -1.16516759185906511e-3,
        7.21894324666309954e-3, -9.62197152787697356e-3,
        -4.21977345555443367e-2, 0.16653861138229149,
        -4.20026350340952355e-2, -0.655878071520253881,
        0.577215664901532861, 1.0};
    even = odd = 0.0;
    for (int k = 0; k < 20; k += 2) {
        odd = odd * n * n + terms[k];
        even = even * n * n + terms[k + 1];
    }
}

/// A function of an order and of the next.
struct Orders {
    double order, here, above;
};
/// K of the orders n and n + 1 for |n| <= 1/2 and x < 2; with sign -1, -Y of
/// them. Temme's series, J. Comput. Phys. 19 (1975).
static __device__ Orders by_temme(double n, double x, double sign) {
    constexpr double pi = 3.14159265358979324;
    double even, odd;
    inverse_gamma(n, even, odd);
    const double scale = sign > 0.0 ? 0.5 : 1.0 / pi;
    const double height = 0.693147180559945309 - log(x), e = n * height;
    const double half_turn = sin(0.5 * pi * n);
    const double r =
        sign > 0.0 || n == 0.0 ? 0.0 : 2.0 * half_turn * half_turn / n;
    const double turn = n == 0.0 ? 1.0 : pi * n / sin(pi * n);
    double f =
        2.0 * scale * turn *
        (even * (n == 0.0 ? height : sinh(e) / n) - odd * cosh(e));
    double p = scale * exp(e) / (even + n * odd);
    double q = scale * exp(-e) / (even - n * odd);
    double here = f + r * q, above = p, factor = 1.0;
    for (int k = 1; k < 40 && fabs(factor) > 1e-20; ++k) {
        f = (k * f + p + q) / (k * k - n * n);
        p /= k - n;
        q /= k + n;
        factor *= sign * x * x / (4.0 * k);
        here += factor * (f + r * q);
        above += factor * (p - k * (f + r * q));
    }
    return {n, here, 2.0 * above / x};
}

/// value * 2^exponent, which may be beyond all doubles.
struct Scaled {
    double value;
    int exponent;
};
static __device__ Scaled sum_of(Scaled a, Scaled b) {
    if (a.exponent > b.exponent)
        return {a.value + ldexp(b.value, b.exponent - a.exponent), a.exponent};
    return {b.value + ldexp(a.value, a.exponent - b.exponent), b.exponent};
}
static __device__ Scaled negative(Scaled a) {
    return {-a.value, a.exponent};
}
/// n!/x^(n + 1)
static __device__ Scaled factorial_power(int n, double x) {
    int exponent = 0;
    const double fraction = frexp(x, &exponent);
    Scaled power = {1.0 / fraction, -exponent * (n + 1)};
    for (int k = 1; k <= n; ++k) {
        power.value *= k / fraction;
        if (power.value > 1e150) {
            power.value = ldexp(power.value, -400);
            power.exponent += 400;
        }
    }
    return power;
}
/// n! times the sum of 1/(x + k)^(n + 1) over k >= 0, for n >= 1 and x > 0:
/// terms until they are negligible, or the Euler-Maclaurin formula holds for
/// the others (DLMF 25.11(iii)).
static __device__ Scaled sum_of_powers(int n, double x) {
    constexpr double negligible = 1e-18;
    constexpr double bernoulli[] = {
        1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730,
        7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
    double sum = 0.0, at = x, term = 1.0; // relative to the first
    for (int k = 1; at < 16.0 + n && term > negligible; ++k) {
        sum += term;
        at = x + k;
        term = pow(x / at, double(n + 1));
    }
    if (term > negligible) {
        sum += term * (at / n + 0.5);
        double factor = term * at / n;
        for (int k = 0; k < 10; ++k) {
            const double above = 2.0 * k + n;
            factor *= above * (above + 1.0) /
                      ((2.0 * k + 1.0) * (2.0 * k + 2.0) * at * at);
            sum += bernoulli[k] * factor;
        }
    }
    int exponent = 0;
    const double fraction = frexp(sum, &exponent);
    const Scaled first = factorial_power(n, x);
    return {first.value * fraction, first.exponent + exponent};
}
/// Derivative n + 1 of log |Γ(x)|, n >= 1, of x < 0 by reflection: what
/// sum_of_powers() has for k >= 0, summed over all whole k, is the derivative of
/// order n of the cotangent.
static __device__ Scaled polygamma_of_negative(int n, double x) {
    const double at = x - rint(x), size = fabs(at);
    const Scaled above = sum_of_powers(n, size);
    const Scaled below = sum_of_powers(n, 1.0 - size);
    const Scaled mirrored = negative(sum_of_powers(n, 1.0 - x));
    if (n % 2)
        return sum_of(sum_of(above, below), mirrored);
    const Scaled both = sum_of(negative(above), below);
    return sum_of(at < 0.0 ? negative(both) : both, mirrored);
}
