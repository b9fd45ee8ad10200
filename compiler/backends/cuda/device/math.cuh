// compiler/backends/cuda/device/math.cuh - functions of the formula language
// that CUDA does not have, or not with these edges.

template <class T> __device__ T infinity();
template <> __device__ __forceinline__ float infinity<float>() {
    return __int_as_float(0x7f800000);
}
template <> __device__ __forceinline__ double infinity<double>() {
    return __longlong_as_double(0x7ff0000000000000LL);
}
template <class T> __device__ T not_a_number();
template <> __device__ __forceinline__ float not_a_number<float>() {
    return __int_as_float(0x7fc00000);
}
template <> __device__ __forceinline__ double not_a_number<double>() {
    return __longlong_as_double(0x7ff8000000000000LL);
}

template <class T> static __device__ __forceinline__ bool is_nan(T x) {
    return x != x;
}

/// Returns the larger number, or NaN if one is.
template <class T> static __device__ __forceinline__ T larger(T a, T b) {
    return a > b || is_nan(a) ? a : b;
}
template <class T> static __device__ __forceinline__ T smaller(T a, T b) {
    return a < b || is_nan(a) ? a : b;
}
static __device__ __forceinline__ float larger(float a, float b) {
    return ptx_larger(a, b);
}
static __device__ __forceinline__ float smaller(float a, float b) {
    return ptx_smaller(a, b);
}

static __device__ __forceinline__ float power_of_two(float x) {
    return ptx_ex2(x);
}
static __device__ __forceinline__ double power_of_two(double x) {
    return exp2(x);
}
static __device__ __forceinline__ float square_root(float x) {
    return ptx_sqrt(x);
}
static __device__ __forceinline__ double square_root(double x) {
    return sqrt(x);
}
static __device__ __forceinline__ float quotient(float a, float b) {
    return ptx_div(a, b);
}
static __device__ __forceinline__ double quotient(double a, double b) {
    return a / b;
}
template <class T> static __device__ __forceinline__ T inverse_root(T x) {
    return rsqrt(x);
}
/// 1 / x, and 0 of 0
template <class T> static __device__ __forceinline__ T pseudo_inverse(T x) {
    return x == T(0) ? T(0) : quotient(T(1), x);
}
template <class T> static __device__ __forceinline__ T sign_of(T x) {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}

/// a - b whole, where b may be infinite.
template <class T>
static __device__ __forceinline__ T rest_of(T a, T b, T whole) {
    return whole == T(0) ? a : fma(-b, whole, a);
}
/// The largest whole number not above a / b, as Python's //: of an infinite a
/// there is none. A quotient may round to the whole number above: the rest has
/// the wrong sign then.
template <class T>
static __device__ __forceinline__ T floor_quotient(T a, T b) {
    if (fabs(a) == infinity<T>() && b != T(0))
        return a - a;
    const T whole = floor(a / b);
    const T rest = rest_of(a, b, whole);
    return rest * b < T(0) ? whole - T(1) : whole;
}
/// a - b floor(a / b): the sign of b, as Python's %. A quotient beyond the
/// digits of its type is no whole number of divisors.
template <class T>
static __device__ __forceinline__ T floor_remainder(T a, T b) {
    const T whole = floor(a / b);
    const bool is_far = fabs(whole) > (sizeof(T) == 4 ? T(4194304) : T(2251799813685248));
    const T rest = is_far ? fmod(a, b) : rest_of(a, b, whole);
    return rest * b < T(0) ? rest + b : rest;
}

/// exp(score - maximum) of a score of at most the maximum; 0 of -inf.
template <class T>
static __device__ __forceinline__ T relative_weight(T score, T maximum) {
    const T level = maximum == -infinity<T>() ? T(0) : maximum;
    const T weight =
        power_of_two(T(1.4426950408889634) * (score - level));
    return score == level ? T(1) : weight;
}

/// x is strictly better than the best so far, or the first NaN.
template <class T>
static __device__ __forceinline__ bool exceeds(T x, T best) {
    return !(x <= best) && !is_nan(best);
}
template <class T>
static __device__ __forceinline__ bool undercuts(T x, T best) {
    return !(x >= best) && !is_nan(best);
}
template <class T> static __device__ __forceinline__ bool same(T a, T b) {
    return a == b || (is_nan(a) && is_nan(b));
}
/// Compares indices, of which -1 (nowhere) is above all.
static __device__ __forceinline__ bool comes_before(long long a, long long b) {
    return (unsigned long long)a < (unsigned long long)b;
}

/// NaN is above every number.
template <class T>
static __device__ __forceinline__ bool sorts_before(T a, T b) {
    return a < b || (is_nan(b) && !is_nan(a));
}

/// An empty place of a tile's list, whose value is NaN.
constexpr int no_column = -2147483647 - 1;

/// Puts x and `at` into the first place k of which before(k) says that x comes
/// before what it holds, and what was there one place down, as all after it.
/// Without a branch: lanes that have something for their lists would otherwise
/// go through the places one after the other.
template <class T, class Index, int K, class Before>
static __device__ __forceinline__ void
shift_in(T (&value)[K], Index (&index)[K], T x, Index at, Before before) {
    bool here = before(K - 1);
#pragma unroll
    for (int k = K - 1; k > 0; --k) { // what is above has not moved yet
        const bool above = before(k - 1);
        value[k] = above ? value[k - 1] : here ? x : value[k];
        index[k] = above ? index[k - 1] : here ? at : index[k];
        here = above;
    }
    value[0] = here ? x : value[0];
    index[0] = here ? at : index[0];
}

/// Puts x where it belongs among the K smallest, below its equals. A number
/// comes before NaN and empty places, NaN before empty ones.
template <class T, int K>
static __device__ __forceinline__ void sink(T (&value)[K], int (&column)[K],
                                            T x, int at) {
    if (!is_nan(x))
        shift_in(value, column, x, at,
                 [&](int k) { return !(value[k] <= x); });
    else if (column[K - 1] == no_column)
        shift_in(value, column, x, at,
                 [&](int k) { return column[k] == no_column; });
}

/// The same of an index that need not come last.
template <int K>
static __device__ __forceinline__ void
insert(double (&value)[K], long long (&index)[K], double x, long long at) {
    shift_in(value, index, x, at, [&](int k) {
        return sorts_before(x, value[k]) |
               (same(x, value[k]) & comes_before(at, index[k]));
    });
}
