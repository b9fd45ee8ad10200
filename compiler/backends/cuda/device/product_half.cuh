// compiler/backends/cuda/device/product_half.cuh - products on tensor cores, of
// factors of 16 bits; or, of three `terms`, of factors that are sums of two
// bfloat16: high and low. What is left out then, low times low, is 2^-16 of the
// product at most.

constexpr int factor_parts = terms == 3 ? 2 : 1;

struct __align__(16) Left {
    unsigned at[factor_parts][block_rows * left_words];
};
struct __align__(16) Right {
    unsigned at[factor_parts][tile_columns * right_words];
};

/// Four components as two words; of a part 1, what part 0 leaves of them.
static __device__ __forceinline__ TwoWords words_of(Four& four) {
    TwoWords words;
#pragma unroll
    for (int w = 0; w < group / 2; ++w)
        words.at[w] = next_part<is_f16>(four.at[2 * w], four.at[2 * w + 1]);
    return words;
}
static __device__ __forceinline__ void put_left(Left& left, unsigned row,
                                                unsigned d, Four four) {
#pragma unroll
    for (int p = 0; p < factor_parts; ++p) {
        const TwoWords words = words_of(four);
        unsigned* place = left.at[p] + left_place(row, d / 2);
        place[0] = words.at[0];
        place[left_apart] = words.at[1];
    }
}
static __device__ __forceinline__ void
put_right(Right& right, unsigned column, unsigned d, Four four) {
#pragma unroll
    for (int p = 0; p < factor_parts; ++p)
        *reinterpret_cast<TwoWords*>(right.at[p] +
                                     right_place(column, d / 2)) =
            words_of(four);
}

static __device__ __forceinline__ void
multiply(const Left& left, const Right& right, unsigned from,
         float (&product)[thread_rows][thread_columns]) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned tile = threadIdx.x / 32 * warp_tiles;
    constexpr int low = factor_parts - 1;
#pragma unroll
    for (int s = 0; s < chunk / 16; ++s) {
        FourWords x[factor_parts][warp_tiles];
#pragma unroll
        for (int p = 0; p < factor_parts; ++p)
#pragma unroll
            for (int m = 0; m < warp_tiles; ++m)
                x[p][m] = *reinterpret_cast<const FourWords*>(
                    left.at[p] +
                    left_step(tile + m, from / 16 + s, lane));
#pragma unroll
        for (int n = 0; n < thread_columns / 2; ++n) {
            TwoWords y[factor_parts];
#pragma unroll
            for (int p = 0; p < factor_parts; ++p)
                y[p] = *reinterpret_cast<const TwoWords*>(
                    right.at[p] + right_step(n, s, lane));
#pragma unroll
            for (int m = 0; m < warp_tiles; ++m) {
                float& c0 = product[2 * m][2 * n];
                float& c1 = product[2 * m][2 * n + 1];
                float& c2 = product[2 * m + 1][2 * n];
                float& c3 = product[2 * m + 1][2 * n + 1];
                if (terms == 3) {
                    multiply_words<is_f16>(c0, c1, c2, c3, x[low][m].at, y[0].at);
                    multiply_words<is_f16>(c0, c1, c2, c3, x[0][m].at, y[low].at);
                }
                multiply_words<is_f16>(c0, c1, c2, c3, x[0][m].at, y[0].at);
            }
        }
    }
}
