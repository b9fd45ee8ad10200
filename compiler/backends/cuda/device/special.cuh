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
static __device__ float bessel_j(float n, float x) {
    return float(bessel_j(double(n), double(x)));
}
static __device__ float bessel_y(float n, float x) {
    return float(bessel_y(double(n), double(x)));
}
