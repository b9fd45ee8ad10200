// compiler/backends/cuda/device/integer.cuh - integers, as compiler/ir/integer.h
// defines them: a result beyond int64 is its least or largest number, and
// what is divided by 0 is 0.

constexpr long long largest_integer = 9223372036854775807LL;
constexpr long long least_whole = -largest_integer - 1;

static __device__ __forceinline__ long long whole_sum(long long a,
                                                      long long b) {
    const long long sum =
        (long long)((unsigned long long)a + (unsigned long long)b);
    const bool overflows = ((a ^ sum) & (b ^ sum)) < 0;
    return overflows ? (a < 0 ? least_whole : largest_integer) : sum;
}
/// A sum of many, whose parts may wrap.
static __device__ __forceinline__ long long wrapped_sum(long long a,
                                                        long long b) {
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
static __device__ __forceinline__ long long whole_difference(long long a,
                                                             long long b) {
    const long long rest =
        (long long)((unsigned long long)a - (unsigned long long)b);
    const bool overflows = ((a ^ b) & (a ^ rest)) < 0;
    return overflows ? (a < 0 ? least_whole : largest_integer) : rest;
}
static __device__ __forceinline__ long long whole_negation(long long a) {
    return whole_difference(0, a);
}
static __device__ __forceinline__ long long whole_size(long long a) {
    return a < 0 ? whole_negation(a) : a;
}
static __device__ __forceinline__ long long whole_remainder(long long a,
                                                            long long b) {
    if (b == 0 || b == -1) // least_whole / -1 would be beyond int64
        return 0;
    const long long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static __device__ __forceinline__ long long whole_quotient(long long a,
                                                           long long b) {
    if (b == 0)
        return 0;
    if (b == -1)
        return whole_negation(a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
/// Rounded towards 0, the nearest one where it is too large.
static __device__ __forceinline__ long long saturated(double x) {
    if (!(x >= -9223372036854775808.0))
        return least_whole;
    return x >= 9223372036854775808.0 ? largest_integer : (long long)x;
}

/// Whether it is whole, and no rounded other whole number.
static __device__ __forceinline__ bool is_whole(float x) {
    return fabs(x) <= 16777215.0f && floor(x) == x;
}
static __device__ __forceinline__ bool is_whole(double x) {
    return fabs(x) <= 9007199254740991.0 && floor(x) == x;
}
/// 0 where it is not.
template <class T>
static __device__ __forceinline__ long long whole_number(T x) {
    return is_whole(x) ? (long long)x : 0;
}
