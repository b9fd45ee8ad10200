// compiler/backends/cuda/device/special.cuh - rare functions, in double. Orders
// beyond ±1000 give NaN, and so does one of polygamma that is not whole.

static __device__ bool is_order(double n) {
    return fabs(n) <= 1000.0;
}
static __device__ bool is_whole_order(double n) {
    return floor(n) == n;
}
/// -1 where a function of odd order changes its sign.
static __device__ double order_sign(int order) {
    return order % 2 != 0 ? -1.0 : 1.0;
}

/// sin(πn) and cos(πn), exact where n is a multiple of 1/2.
static __device__ void half_turns(double n, double& sine, double& cosine) {
    constexpr double pi = 3.14159265358979324;
    const double at = n - 2.0 * rint(0.5 * n), quarters = rint(2.0 * at);
    const double rest = pi * (at - 0.5 * quarters);
    const double s = sin(rest), c = cos(rest);
    const int turn = int(quarters) & 3;
    sine = turn == 0 ? s : turn == 1 ? c : turn == 2 ? -s : -c;
    cosine = turn == 0 ? c : turn == 1 ? -s : turn == 2 ? -c : s;
}

/// I_(n+1)/I_n with sign 1, J_(n+1)/J_n with sign -1, by their recurrence
/// from `terms` orders above.
static __device__ double ratio_of_orders(double n, double x, double sign,
                                         int terms) {
    double ratio = 0.0;
    for (int k = terms; k > 0; --k)
        ratio = 1.0 / (2.0 * (n + k) / x + sign * ratio);
    return ratio;
}

/// K_n and K_(n+1) times e^x for 0 <= n < 1: the trapezium rule for the
/// integral of exp(-x cosh t) cosh(n t), which converges geometrically.
static __device__ void first_bessel_k(double n, double x, double& here,
                                      double& above) {
    const double step = fmin(0.2, 0.6 / sqrt(x));
    here = above = 0.5;
    for (int k = 1; k < 10000; ++k) {
        const double t = step * k, half = sinh(0.5 * t);
        const double exponent = 2.0 * x * half * half;
        if (exponent > 745.0 || exponent > 50.0 + (n + 1.0) * t)
            break;
        const double weight = exp(-exponent);
        here += weight * cosh(n * t);
        above += weight * cosh((n + 1.0) * t);
    }
    here *= step;
    above *= step;
}

/// Times e^x and 1e-250 to the power of `scales`.
struct BesselK {
    double here, above; // of the order, and of the next
    int scales;
};
static __device__ BesselK scaled_bessel_k(double n, double x) {
    const double whole = floor(n);
    BesselK k{0.0, 0.0, 0};
    first_bessel_k(n - whole, x, k.here, k.above);
    for (double order = n - whole; order < n - 0.5; order += 1.0) {
        const double next = k.here + 2.0 * (order + 1.0) / x * k.above;
        k.here = k.above;
        k.above = next;
        if (k.above > 1e250) {
            k.here *= 1e-250;
            k.above *= 1e-250;
            ++k.scales;
        }
    }
    return k;
}
/// value * exp(exponent) * 1e250^scales, where parts of it may be too large.
static __device__ double unscaled(double value, double exponent, int scales) {
    const int count = scales < 0 ? -scales : scales;
    const double scale = scales < 0 ? 1e-250 : 1e250;
    const double part = exp(exponent / (2 * count + 2));
    value *= part;
    for (int k = 0; k < count; ++k)
        value = value * part * scale * part;
    return value * part;
}

static __device__ double bessel_k(double n, double x) {
    n = fabs(n);
    if (!is_order(n) || is_nan(x) || x < 0.0)
        return not_a_number<double>();
    if (x == 0.0)
        return infinity<double>();
    if (x > 1500.0)
        return 0.0;
    const BesselK k = scaled_bessel_k(n, x);
    return unscaled(k.here, -x, k.scales);
}
static __device__ double bessel_i_of_positive(double n, double x) {
    if (x > 1e5)
        return infinity<double>();
    const BesselK k = scaled_bessel_k(n, x);
    const int terms = 40 + int(sqrt(80.0 * x));
    const double ratio = ratio_of_orders(n, x, 1.0, terms);
    return unscaled(1.0 / (x * (k.above + ratio * k.here)), x, -k.scales);
}

/// (x/2)^n / Γ(n + 1) towards x = 0.
static __device__ double first_kind_at_0(double n) {
    if (n >= 0.0 || is_whole_order(n))
        return n == 0.0 ? 1.0 : 0.0;
    return order_sign(int(floor(-n))) * infinity<double>();
}
static __device__ double bessel_i(double n, double x) {
    const bool whole = is_whole_order(n);
    if (!is_order(n) || is_nan(x) || (x < 0.0 && !whole))
        return not_a_number<double>();
    if (x == 0.0)
        return first_kind_at_0(n);
    double value = bessel_i_of_positive(fabs(n), fabs(x));
    if (whole)
        return x < 0.0 ? value * order_sign(int(n)) : value;
    if (n < 0.0 && x < infinity<double>()) {
        double sine, cosine;
        half_turns(-n, sine, cosine);
        value += 0.636619772367581343 * sine * bessel_k(n, x);
    }
    return value;
}

/// J and Y of the orders n and n + 1 for 0 <= n < 1: the trapezium rule for
/// Sommerfeld's integral of exp(ix cosh t - nt) along the path of steepest
/// descent, t = s + i atan(sinh s), which converges geometrically.
struct BesselJY {
    double j, y, next_j, next_y;
};
static __device__ void add_hankel(double n, double s, double turn,
                                  double weight, double slope, double& real,
                                  double& imaginary) {
    const double even = cosh(n * s) * cos(n * turn);
    const double odd = sinh(n * s) * sin(n * turn);
    real += weight * (even - odd * slope);
    imaginary += weight * (odd + even * slope);
}
static __device__ BesselJY first_bessel_jy(double n, double x) {
    // Beyond 1e16 the sum is its first term, of no order.
    const bool is_far = x > 1e16;
    const double step =
        is_far ? 1.77245385090551603 / sqrt(x) : fmin(0.12, 0.4 / sqrt(x));
    double a = 0.5, b = 0.5, next_a = 0.5, next_b = 0.5;
    for (int k = 1; !is_far && k < 10000; ++k) {
        const double s = step * k, height = sinh(s), slope = 1.0 / cosh(s);
        const double exponent = x * height * height * slope;
        if (exponent > 745.0 || exponent > 50.0 + (n + 1.0) * s)
            break;
        const double weight = exp(-exponent), turn = atan(height);
        add_hankel(n, s, turn, weight, slope, a, b);
        add_hankel(n + 1.0, s, turn, weight, slope, next_a, next_b);
    }
    // The phase x - nπ/2, and that less another π/2.
    double sine, cosine;
    half_turns(0.5 * n, sine, cosine);
    const double c = cos(x) * cosine + sin(x) * sine;
    const double s = sin(x) * cosine - cos(x) * sine;
    const double scale = 0.636619772367581343 * step;
    return {scale * (b * c + a * s), scale * (b * s - a * c),
            scale * (next_b * s - next_a * c),
            scale * (-next_b * c - next_a * s)};
}
static __device__ BesselJY bessel_jy(double n, double x) {
    const double whole = floor(n);
    BesselJY all = first_bessel_jy(n - whole, x);
    for (double order = n - whole; order < n - 0.5; order += 1.0) {
        const double factor = 2.0 * (order + 1.0) / x;
        const double y = factor * all.next_y - all.y;
        all = {all.next_j, all.next_y, factor * all.next_j - all.j,
               is_nan(y) ? -infinity<double>() : y}; // once it is too large
    }
    if (x < n || x < 1.5) {
        // Of J_(n+1) Y_n - J_n Y_(n+1) = 2/(πx), which cancels nothing here.
        const double ratio =
            ratio_of_orders(n, x, -1.0, 60 + int(15.0 * cbrt(n)));
        const double both = ratio * all.y - all.next_y;
        all.j = all.next_y > -1e307 ? 0.636619772367581343 / (x * both) : 0.0;
    }
    return all;
}
/// Of n and -n from those of |n|.
static __device__ double bessel_j(double n, double x) {
    const bool whole = is_whole_order(n);
    if (!is_order(n) || is_nan(x) || (x < 0.0 && !whole))
        return not_a_number<double>();
    if (x == 0.0)
        return first_kind_at_0(n);
    if (whole) {
        const double sign = (n < 0.0) != (x < 0.0) ? order_sign(int(n)) : 1.0;
        return sign * jn(int(fabs(n)), fabs(x));
    }
    if (x == infinity<double>())
        return 0.0;
    const BesselJY both = bessel_jy(fabs(n), x);
    double sine, cosine;
    half_turns(-n, sine, cosine);
    return n < 0.0 ? cosine * both.j - sine * both.y : both.j;
}
static __device__ double bessel_y(double n, double x) {
    if (!is_order(n) || is_nan(x) || x < 0.0)
        return not_a_number<double>();
    double sine, cosine;
    half_turns(n < 0.0 ? -n : 0.0, sine, cosine);
    if (x == 0.0)
        return cosine == 0.0 ? 0.0 : -cosine * infinity<double>();
    if (is_whole_order(n) && x != infinity<double>())
        return cosine * yn(int(fabs(n)), x);
    if (x == infinity<double>())
        return 0.0;
    const BesselJY both = bessel_jy(fabs(n), x);
    return n < 0.0 ? sine * both.j + cosine * both.y : both.y;
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
/// NaN at poles, of an order that is negative or not whole, and of an order
/// above 64 where x < 0.
static __device__ double polygamma(double n, double x) {
    const bool is_pole = x <= 0.0 && floor(x) == x;
    if (!is_order(n) || !is_whole_order(n) || n < 0.0 || is_pole ||
        !(fabs(x) < 1e300))
        return not_a_number<double>();
    const int order = int(n);
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
