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
/// K of the orders n and n + 1 for |n| <= 1/2 and x < 2; with sign -1, -Y of
/// them. Temme's series, J. Comput. Phys. 19 (1975).
struct Orders {
    double order, here, above;
};
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
        // Of J_(n+1) Y_n - J_n Y_(n+1) = 2/(πx), which cancels nothing here.
        const double ratio =
            ratio_of_orders(n, x, -1.0, 60 + int(15.0 * cbrt(n)));
        const double both = ratio * all.y - all.next_y;
        all.j = is_nan(both) ? 0.0 : 0.636619772367581343 / (x * both);
    }
    return all;
}
/// Of n and -n from those of |n|.
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
/// the others.
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
    const Scaled first = factorial_power(n, x);
    return {first.value * sum, first.exponent};
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
/// Of x < 0 by reflection: what sum_of_powers() has for k >= 0, summed over all
/// whole k, is the derivative of order n of the cotangent.
static __device__ double digamma_of_negative(double x) {
    constexpr double pi = 3.14159265358979324;
    const double at = x - rint(x), size = fabs(at);
    const double cotangent =
        size > 0.25 ? tan(pi * (0.5 - size)) : 1.0 / tan(pi * size);
    return digamma_of_positive(1.0 - x) +
           (at < 0.0 ? pi * cotangent : -pi * cotangent);
}
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
