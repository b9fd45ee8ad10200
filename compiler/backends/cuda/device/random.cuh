// compiler/backends/cuda/device/random.cuh - random numbers: Philox4x32-10
// (Salmon et al., SC 2011) of the key `seed` and the counter (i, j).

struct Words {
    unsigned x[4];
};

static __device__ __forceinline__ Words philox(long long seed, long long i,
                                               long long j) {
    Words words = {{unsigned(i), unsigned((unsigned long long)i >> 32),
                    unsigned(j), unsigned((unsigned long long)j >> 32)}};
    unsigned key[2] = {unsigned(seed),
                       unsigned((unsigned long long)seed >> 32)};
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xd2511f53ULL * words.x[0];
        const unsigned long long b = 0xcd9e8d57ULL * words.x[2];
        words = {{unsigned(b >> 32) ^ words.x[1] ^ key[0], unsigned(b),
                  unsigned(a >> 32) ^ words.x[3] ^ key[1], unsigned(a)}};
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return words;
}

/// A word's upper 24 bits as a number in [0, 1): float and double hold the
/// same one.
template <class T> static __device__ __forceinline__ T fraction(unsigned word) {
    return T(word >> 8) * T(1.0 / 16777216.0);
}
template <class T>
static __device__ __forceinline__ T uniform(long long seed, long long i,
                                            long long j) {
    return fraction<T>(philox(seed, i, j).x[0]);
}
/// Returns a normal number by Box and Muller's method; 1 - u is never 0.
template <class T>
static __device__ __forceinline__ T normal(long long seed, long long i,
                                           long long j) {
    const Words words = philox(seed, i, j);
    const T radius = sqrt(T(-2) * log(T(1) - fraction<T>(words.x[0])));
    return radius * cos(T(6.283185307179586) * fraction<T>(words.x[1]));
}
