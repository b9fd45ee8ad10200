// compiler/backends/cuda/device/product_tf32.cuh - products on tensor cores, of
// factors that are sums of two numbers of 11 bits: high and low. The cores
// leave out what is below these, 2^-21 of a factor at most; low times low,
// 2^-22 of the product at most, is left out here.

struct __align__(16) Left {
    float at[block_rows * left_words];
};
struct __align__(16) Right {
    float at[tile_columns * right_words];
};

static __device__ __forceinline__ void put_left(Left& left, unsigned row,
                                                unsigned d, const Four& four) {
    float* place = left.at + left_place(row, d);
#pragma unroll
    for (int q = 0; q < group; ++q)
        place[left_apart * q] = four.at[q];
}
static __device__ __forceinline__ void put_right(Right& right,
                                                 unsigned column, unsigned d,
                                                 const Four& four) {
    *reinterpret_cast<Four*>(right.at + right_place(column, d)) = four;
}

/// To the nearest of 11 bits, and the rest.
static __device__ __forceinline__ void split(unsigned value, unsigned& high,
                                             unsigned& low) {
    high = (value + 0x1000u) & ~0x1fffu;
    low = __float_as_uint(__uint_as_float(value) - __uint_as_float(high));
}

static __device__ __forceinline__ void
multiply(const Left& left, const Right& right, unsigned from,
         float (&product)[thread_rows][thread_columns]) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned tile = threadIdx.x / 32 * warp_tiles;
#pragma unroll
    for (int s = 0; s < chunk / 8; ++s) {
        unsigned high[warp_tiles][4], low[warp_tiles][4];
#pragma unroll
        for (int m = 0; m < warp_tiles; ++m) {
            const FourWords words = *reinterpret_cast<const FourWords*>(
                left.at + left_step(tile + m, from / 8 + s, lane));
#pragma unroll
            for (int q = 0; q < 4; ++q)
                split(words.at[q], high[m][q], low[m][q]);
        }
#pragma unroll
        for (int n = 0; n < thread_columns / 2; ++n) {
            const TwoWords words = *reinterpret_cast<const TwoWords*>(
                right.at + right_step(n, s, lane));
            unsigned right_high[2], right_low[2];
#pragma unroll
            for (int q = 0; q < 2; ++q)
                split(words.at[q], right_high[q], right_low[q]);
#pragma unroll
            for (int m = 0; m < warp_tiles; ++m) {
                float& c0 = product[2 * m][2 * n];
                float& c1 = product[2 * m][2 * n + 1];
                float& c2 = product[2 * m + 1][2 * n];
                float& c3 = product[2 * m + 1][2 * n + 1];
                ptx_mma_tf32(c0, c1, c2, c3, low[m], right_high);
                ptx_mma_tf32(c0, c1, c2, c3, high[m], right_low);
                ptx_mma_tf32(c0, c1, c2, c3, high[m], right_high);
            }
        }
    }
}
