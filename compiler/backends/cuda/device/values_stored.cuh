// compiler/backends/cuda/device/values_stored.cuh - the values of a tile of columns
// in shared memory, as they lie in memory: a column after the other. A warp
// turns them as it reads them.

/// Two tiles of components, which one instruction reads.
constexpr int together = 2;
/// An odd number of 16 bytes: the same components of 8 columns lie in different
/// banks.
constexpr unsigned value_stride = (value_tiles | 1) * 8;

struct __align__(16) ValueTile {
    unsigned short at[tile_columns * value_stride + 8];
};

/// The component of the thread's sum v.
static __device__ __forceinline__ int component_of_sum(int v) {
    return v / 2 * 8 + int(threadIdx.x) % 4 * 2 + v % 2;
}

static __device__ __forceinline__ void
copy_values(const Call& call, const Task& task,
            const ColumnAddress (&addresses)[tile_columns],
            ValueTile& values) {
    constexpr unsigned copied = tile_columns * value_tiles;
#pragma unroll
    for (unsigned n = 0; n < (copied + threads - 1) / threads; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        if (copied % threads != 0 && at >= copied)
            continue;
        const unsigned column = at / value_tiles, d = at % value_tiles * 8;
        copy_eight(values.at + column * value_stride + d,
                   value_stored(call, task.place, addresses[column]), int(d));
    }
}

/// What the lane multiplies with weights of the columns 16 step …, of the tiles
/// tile and tile + 1.
static __device__ __forceinline__ void
read_values(const ValueTile& values, int, unsigned step, unsigned tile,
            unsigned (&words)[together][2]) {
    const unsigned lane = threadIdx.x % 32;
    ptx_load_transposed(values.at + (step * 16 + lane % 16) * value_stride +
                            (tile + lane / 16) * 8,
                        words[0][0], words[0][1], words[1][0], words[1][1]);
}
