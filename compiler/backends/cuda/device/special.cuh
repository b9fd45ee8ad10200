// compiler/backends/cuda/device/special.cuh - rare functions, in double. The
// order n is rounded down to a whole number; beyond ±1000 the result is NaN.

static __device__ bool is_order(double n) {
    return fabs(floor(n)) <= 1000.0;
}
/// -1 where a function of odd order changes its sign.
static __device__ double order_sign(int order) {
    return order % 2 != 0 ? -1.0 : 1.0;
}

/// J of a negative order or argument is ±J of the positive ones.
static __device__ double bessel_j(double n, double x) {
    if (!is_order(n) || is_nan(x))
        return not_a_number<double>();
    const int order = int(floor(n));
    double value = jn(order < 0 ? -order : order, fabs(x));
    if (order < 0)
        value *= order_sign(order);
    return x < 0.0 ? value * order_sign(order) : value;
}
static __device__ double bessel_y(double n, double x) {
    if (!is_order(n) || is_nan(x) || x < 0.0)
        return not_a_number<double>();
    if (x == 0.0)
        return -infinity<double>();
    const int order = int(floor(n));
    const double value = yn(order < 0 ? -order : order, x);
    return order < 0 ? value * order_sign(order) : value;
}
/// By Miller's recurrence from above, which e^x = I_0 + 2 I_1 + 2 I_2 + …
/// scales: all of its terms are positive. Below 1e-7, by the series' first.
static __device__ double bessel_i_of(int order, double x) {
    if (x == 0.0 || x > 1e5)
        return x > 0.0 ? infinity<double>() : order == 0 ? 1.0 : 0.0;
    if (x < 1e-7)
        return exp(order * log(0.5 * x) - lgamma(order + 1.0));
    double above = 0.0, here = 1e-200, sum = 0.0, result = 0.0;
    for (int k = order + 30 + int(sqrt(80.0 * x)); k > 0; --k) {
        const double below = above + 2.0 * k / x * here;
        if (k == order)
            result = here;
        sum += 2.0 * here;
        above = here;
        here = below;
        if (here > 1e200) {
            above *= 1e-200;
            here *= 1e-200;
            sum *= 1e-200;
            result *= 1e-200;
        }
    }
    if (order == 0)
        result = here;
    return result / (sum + here) * exp(0.5 * x) * exp(0.5 * x);
}
static __device__ double bessel_i(double n, double x) {
    if (!is_order(n) || is_nan(x))
        return not_a_number<double>();
    const int order = int(fabs(floor(n)));
    const double value = bessel_i_of(order, fabs(x));
    return x < 0.0 ? value * order_sign(order) : value;
}

/// K_0 and K_1 times e^(x/2): the series of K_0, or the trapezium rule for
/// the integral of exp(-x cosh t) cosh(n t), which converges geometrically.
static __device__ void first_bessel_k(double x, double& k0, double& k1) {
    if (x <= 2.0) {
        const double square = 0.25 * x * x;
        double term = 1.0, harmonic = 0.0, i0 = 1.0, sum = 0.0;
        for (int k = 1; k < 20; ++k) {
            term *= square / (double(k) * k);
            harmonic += 1.0 / k;
            i0 += term;
            sum += term * harmonic;
        }
        const double scale = exp(0.5 * x);
        const double i1 = bessel_i_of(1, x);
        const double value =
            sum - (log(0.5 * x) + 0.57721566490153286) * i0;
        k1 = (1.0 / x - i1 * value) / i0 * scale;
        k0 = value * scale;
        return;
    }
    const double step = fmin(0.25, 0.7 / sqrt(x));
    k0 = k1 = 0.5;
    for (int k = 1; k < 200; ++k) {
        const double half = sinh(0.5 * step * k);
        const double exponent = 2.0 * x * half * half;
        if (exponent > 745.0)
            break;
        const double weight = exp(-exponent);
        k0 += weight;
        k1 += weight * (1.0 + 2.0 * half * half);
    }
    k0 *= step * exp(-0.5 * x);
    k1 *= step * exp(-0.5 * x);
}
static __device__ double bessel_k(double n, double x) {
    if (!is_order(n) || is_nan(x) || x < 0.0)
        return not_a_number<double>();
    if (x == 0.0)
        return infinity<double>();
    if (x > 1400.0)
        return 0.0;
    const int order = int(fabs(floor(n)));
    double below, here;
    first_bessel_k(x, below, here);
    if (order == 0)
        here = below;
    for (int k = 1; k < order; ++k) {
        const double above = below + 2.0 * k / x * here;
        below = here;
        here = above;
    }
    return here * exp(-0.5 * x);
}

/// n! / x^(n + 1)
static __device__ double factorial_power(int n, double x) {
    double value = 1.0 / x;
    for (int k = 1; k <= n; ++k)
        value *= k / x;
    return value;
}
/// Of x > 0: steps up to where the asymptotic series holds.
static __device__ double polygamma_of_positive(int n, double x) {
    constexpr double bernoulli[] = {
        1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730,
        7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
    double sum = 0.0;
    for (; x < 16.0 + n; x += 1.0)
        sum += factorial_power(n, x);
    // B (2k + n - 1)! / ((2k)! x^(2k + n)), and the terms before.
    sum += 0.5 * factorial_power(n, x);
    double factor = n == 0 ? 1.0 : factorial_power(n - 1, x);
    if (n > 0)
        sum += factor;
    for (int k = 1; k <= 10; ++k) {
        const double first = 2.0 * k + n - 2.0, second = first + 1.0;
        const double counts = (first > 0.0 ? first : 1.0) * second;
        factor *= counts / ((2.0 * k - 1.0) * (2.0 * k) * x * x);
        sum += bernoulli[k - 1] * factor;
    }
    if (n == 0)
        return log(x) - sum;
    return n % 2 ? sum : -sum;
}
/// The derivative of order n of π cot(πx): a polynomial of the cotangent, by
/// d cot(πx) = -π (1 + cot²). Its terms have one sign.
static __device__ double cotangent_derivative(int n, double x) {
    constexpr double pi = 3.14159265358979324;
    const double at = x - rint(x), size = fabs(at);
    const double of_size =
        size > 0.25 ? tan(pi * (0.5 - size)) : 1.0 / tan(pi * size);
    const double cotangent = at < 0.0 ? -of_size : of_size;
    double factors[67] = {0.0, pi};
    for (int order = 1; order <= n; ++order) {
        double next[67] = {};
        for (int k = 1; k <= order; ++k) {
            next[k - 1] -= pi * k * factors[k];
            next[k + 1] -= pi * k * factors[k];
        }
        for (int k = 0; k <= order + 1; ++k)
            factors[k] = next[k];
    }
    double value = 0.0;
    for (int k = n + 1; k >= 0; --k)
        value = fma(value, cotangent, factors[k]);
    return value;
}
/// NaN at poles, of a negative order, and of an order above 64 where x < 0.
static __device__ double polygamma(double n, double x) {
    const bool is_pole = x <= 0.0 && floor(x) == x;
    if (!is_order(n) || floor(n) < 0.0 || is_pole || !(fabs(x) < 1e300))
        return not_a_number<double>();
    const int order = int(floor(n));
    if (x > 0.0)
        return polygamma_of_positive(order, x);
    if (order > 64)
        return not_a_number<double>();
    const double mirrored = polygamma_of_positive(order, 1.0 - x);
    return order_sign(order) * mirrored - cotangent_derivative(order, x);
}

static __device__ float bessel_i(float n, float x) {
    return float(bessel_i(double(n), double(x)));
}
static __device__ float bessel_k(float n, float x) {
    return float(bessel_k(double(n), double(x)));
}
static __device__ float polygamma(float n, float x) {
    return float(polygamma(double(n), double(x)));
}
static __device__ float bessel_j(float n, float x) {
    return float(bessel_j(double(n), double(x)));
}
static __device__ float bessel_y(float n, float x) {
    return float(bessel_y(double(n), double(x)));
}
