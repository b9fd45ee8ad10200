// compiler/backends/cuda/device/copies.cuh - the right vectors of a product that is
// computed of what is stored.

/// All components of the right vectors of a tile. Neighbouring threads copy
/// from neighbouring columns, so that they write neighbouring words.
static __device__ __forceinline__ void
copy_right(const Call& call, const Task& task,
           const ColumnAddress (&addresses)[tile_columns], Right& right) {
    static_assert(chunk == depth && depth % 16 == 0, "a step is 16 components");
    constexpr unsigned copied = tile_columns * (depth / 8);
#pragma unroll
    for (unsigned n = 0; n < (copied + threads - 1) / threads; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        if (copied % threads != 0 && at >= copied)
            continue;
        const unsigned step = at / 16 % (depth / 16);
        const unsigned column = at / 16 / (depth / 16) * 8 + at / 2 % 8;
        const unsigned d = step * 16 + at % 2 * 8;
        copy_eight(reinterpret_cast<unsigned short*>(
                       right.at[0] + right_place(column, d / 2)),
                   right_stored(call, task.place, addresses[column]), int(d));
    }
}
