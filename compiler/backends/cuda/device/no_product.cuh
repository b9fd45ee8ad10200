// compiler/backends/cuda/device/no_product.cuh - in the place of vectors.cuh,
// where pairs do not meet in a product of long vectors.

struct Vectors {};

static __device__ __forceinline__ void bring_left(const Call&, const Constants&,
                                                  const Task&, Vectors&) {}
static __device__ __forceinline__ float finished(float, const Vectors&, int) {
    return 0.0f;
}
static __device__ __forceinline__ void
multiply_tile(const Call&, const Constants&, const Task&,
              const ColumnAddress (&)[tile_columns], Vectors&,
              float (&)[thread_rows][thread_columns]) {
    __syncthreads();
}
