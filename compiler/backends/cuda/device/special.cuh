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

/// K_n and K_(n+1) times e^x for 0 <= n < 1 and x from 2 on: the trapezium rule
/// for the integral of exp(-x cosh t) cosh(n t), which converges geometrically.
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
    BesselK k{0.0, 0.0, 0};
    double order = n - floor(n);
    if (x < 2.0) {
        const Orders first = by_temme(n - rint(n), x, 1.0);
        order = first.order;
        k = {first.here * exp(x), first.above * exp(x), 0};
    } else {
        first_bessel_k(order, x, k.here, k.above);
    }
    for (; order < n - 0.5; order += 1.0) {
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

/// (x/2)^n / Γ(n + 1), which is J and I of x < 1e-8 where n >= 0.
constexpr double near_0 = 1e-8;
static __device__ double first_kind_near_0(double n, double x) {
    if (n == 0.0)
        return 1.0;
    if (n == 1.0)
        return 0.5 * x;
    const double root = exp(0.5 * n * (log(x) - 0.693147180559945309));
    return x == 0.0 ? 0.0 : root / tgamma(n + 1.0) * root;
}
static __device__ double bessel_i_of_positive(double n, double x) {
    if (x > 1500.0)
        return infinity<double>();
    if (x < near_0)
        return first_kind_near_0(n, x);
    const BesselK k = scaled_bessel_k(n, x);
    const int terms = 40 + int(sqrt(80.0 * x));
    const double ratio = ratio_of_orders(n, x, 1.0, terms);
    return unscaled(1.0 / (x * (k.above + ratio * k.here)), x, -k.scales);
}

/// J and I of a negative order that is not whole, of x < 1e-100.
constexpr double near_pole = 1e-100;
static __device__ double first_kind_near_pole(double n, double x) {
    if (x == 0.0 || n < -4.0)
        return order_sign(int(floor(-n))) * infinity<double>();
    return first_kind_near_0(n, x);
}
static __device__ double bessel_i(double n, double x) {
    const bool whole = is_whole_order(n);
    if (!is_order(n) || is_nan(x) || (x < 0.0 && !whole))
        return not_a_number<double>();
    if (x < near_pole && n < 0.0 && !whole)
        return first_kind_near_pole(n, x);
    double value = bessel_i_of_positive(fabs(n), fabs(x));
    if (whole)
        return x < 0.0 ? value * order_sign(int(n)) : value;
    if (n < 0.0 && x <= 1500.0) {
        double sine, cosine;
        half_turns(-n, sine, cosine);
        value += 0.636619772367581343 * sine * bessel_k(n, x);
    }
    return value;
}

/// J and Y of the orders n and n + 1 for 0 <= n < 1 and x from 2 on: the
/// trapezium rule for Sommerfeld's integral of exp(ix cosh t - nt) along the path of steepest
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
    double order = n - floor(n);
    BesselJY all{};
    if (x < 2.0) {
        const Orders first = by_temme(n - rint(n), x, -1.0);
        order = first.order;
        all = {0.0, -first.here, 0.0, -first.above};
    } else {
        all = first_bessel_jy(order, x);
    }
    for (; order < n - 0.5; order += 1.0) {
        const double factor = 2.0 * (order + 1.0) / x;
        const double y = factor * all.next_y - all.y;
        all = {all.next_j, all.next_y, factor * all.next_j - all.j,
               is_nan(y) ? -infinity<double>() : y}; // once it is too large
    }
    if (x < near_0) {
        all.j = first_kind_near_0(n, x);
    } else if (x < n || x < 2.0) {
        // J_(n+1) Y_n - J_n Y_(n+1) = 2/(πx) gives J_n; nothing cancels here.
        const double ratio =
            ratio_of_orders(n, x, -1.0, 60 + int(15.0 * cbrt(n)));
        const double both = ratio * all.y - all.next_y;
        all.j = is_nan(both) ? 0.0 : 0.636619772367581343 / (x * both);
    }
    return all;
}
/// Returns J_n(x), for n and -n from the functions of order |n|.
static __device__ double bessel_j(double n, double x) {
    const bool whole = is_whole_order(n);
    if (!is_order(n) || is_nan(x) || (x < 0.0 && !whole))
        return not_a_number<double>();
    if (x < near_pole && n < 0.0 && !whole)
        return first_kind_near_pole(n, x);
    if (whole) {
        const double sign = (n < 0.0) != (x < 0.0) ? order_sign(int(n)) : 1.0;
        return sign * jn(int(fabs(n)), fabs(x));
    }
    if (x == infinity<double>())
        return 0.0;
    const BesselJY both = bessel_jy(fabs(n), x);
    double sine, cosine;
    half_turns(-n, sine, cosine);
    if (n > 0.0)
        return both.j;
    return cosine * both.j - (sine == 0.0 ? 0.0 : sine * both.y);
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
    if (n > 0.0)
        return both.y;
    return sine * both.j + (cosine == 0.0 ? 0.0 : cosine * both.y);
}

static __device__ double digamma_of_positive(double x) {
    constexpr double factors[] = {
        1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
        -691.0 / 32760, 1.0 / 12, -3617.0 / 8160, 43867.0 / 14364,
        -174611.0 / 6600};
    double sum = 0.0;
    for (; x < 16.0; x += 1.0)
        sum += 1.0 / x;
    double power = 1.0;
    sum += 0.5 / x;
    for (int k = 0; k < 10; ++k) {
        power /= x * x;
        sum += factors[k] * power;
    }
    return log(x) - sum;
}
/// Returns ψ(x) for x < 0, by reflection.
static __device__ double digamma_of_negative(double x) {
    constexpr double pi = 3.14159265358979324;
    const double at = x - rint(x), size = fabs(at);
    const double cotangent =
        size > 0.25 ? tan(pi * (0.5 - size)) : 1.0 / tan(pi * size);
    return digamma_of_positive(1.0 - x) +
           (at < 0.0 ? pi * cotangent : -pi * cotangent);
}
/// NaN at poles, and of an order that is negative or not whole.
static __device__ double polygamma(double n, double x) {
    const bool is_pole = x <= 0.0 && floor(x) == x;
    if (!is_order(n) || !is_whole_order(n) || n < 0.0 || is_pole || is_nan(x))
        return not_a_number<double>();
    if (x == infinity<double>())
        return n == 0.0 ? x : 0.0;
    if (n == 0.0)
        return x > 0.0 ? digamma_of_positive(x) : digamma_of_negative(x);
    const int order = int(n);
    if (x < 0.0) {
        const Scaled sum = polygamma_of_negative(order, x);
        return ldexp(sum.value, sum.exponent);
    }
    const Scaled sum = sum_of_powers(order, x);
    return -order_sign(order) * ldexp(sum.value, sum.exponent);
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
