// compiler/backends/cuda/device/product_fma.cuh - 8 × 8 products of a thread in
// registers, a component at a time: 64 multiplications for 16 numbers read.

constexpr int thread_rows = 8, thread_columns = 8, row_lanes = 8;

static __device__ __forceinline__ int warp_row(int r) {
    return int(threadIdx.x) % 32 / 8 * 4 + r % 4 + r / 4 * 16;
}
/// The row of the block that is the thread's own row r.
static __device__ __forceinline__ int block_row(int r) {
    return int(threadIdx.x) / 32 * 32 + warp_row(r);
}
static __device__ __forceinline__ int tile_column(int c) {
    return int(threadIdx.x) % 8 * 4 + c % 4 + c / 4 * 32;
}

/// The left vectors by component, then by point, padded for the sake of writes.
struct __align__(16) Left {
    float at[depth][block_rows + 4];
};
struct __align__(16) Right {
    float at[chunk][tile_columns + 4];
};
static __device__ __forceinline__ Four four_at(const float* place) {
    return *reinterpret_cast<const Four*>(place);
}

static __device__ __forceinline__ void put_left(Left& left, unsigned row,
                                                unsigned d, const Four& four) {
#pragma unroll
    for (int q = 0; q < group; ++q)
        left.at[d + q][row] = four.at[q];
}
static __device__ __forceinline__ void put_right(Right& right,
                                                 unsigned column, unsigned d,
                                                 const Four& four) {
#pragma unroll
    for (int q = 0; q < group; ++q)
        right.at[d + q][column] = four.at[q];
}

/// x y, or (x - y)², added.
static __device__ __forceinline__ float step(float x, float y, float sum) {
    const float difference = x - y;
    return squares ? fma(difference, difference, sum) : fma(x, y, sum);
}

static __device__ __forceinline__ void
multiply(const Left& left, const Right& right, unsigned from,
         float (&product)[thread_rows][thread_columns]) {
    const int row = int(threadIdx.x) / 32 * 32 + warp_row(0);
    const int column = tile_column(0);
    // One chunk altogether begins its sums with products, not with moves.
#pragma unroll (depth == chunk ? chunk : 8)
    for (int d = 0; d < chunk; ++d) {
        const float* x = left.at[from + d] + row;
        const float* y = right.at[d] + column;
        const Four rows[2] = {four_at(x), four_at(x + 16)};
        const Four columns[2] = {four_at(y), four_at(y + 32)};
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
#pragma unroll
            for (int c = 0; c < thread_columns; ++c)
                product[r][c] = step(rows[r / 4].at[r % 4],
                                     columns[c / 4].at[c % 4], product[r][c]);
    }
}
