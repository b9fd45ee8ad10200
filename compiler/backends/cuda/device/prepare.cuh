// compiler/backends/cuda/device/prepare.cuh - what is on no axis, once a call
// or, where there are batches, once a batch: by one block each.

/// Returns how far a batch is from the first; the innermost extent is the last.
static __device__ __forceinline__ long long
batch_offset(const Call& call, const long long (&strides)[batch_dimensions],
             long long batch) {
    long long offset = 0;
#pragma unroll 1
    for (int d = batch_dimensions - 1; d >= 0; --d) {
        const Quotient at = divided(batch, call.batch[d]);
        offset += at.rest * strides[d];
        batch = at.whole;
    }
    return offset;
}

static __device__ __forceinline__ void list_offsets(const Call& call,
                                                    long long batch) {
#pragma unroll 1
    for (int k = threadIdx.x; k <= operand_count; k += threads)
        call.offsets[batch * (operand_count + 1) + k] =
            batch_offset(call,
                         k < operand_count ? call.operands[k].batch
                                           : call.out_batch,
                         batch);
}

extern "C" __global__ void __launch_bounds__(threads)
prepare(const __grid_constant__ Call call) {
#pragma unroll 1
    for (long long batch = blockIdx.x; batch < call.batches;
         batch += gridDim.x) {
        if (call.offsets)
            list_offsets(call, batch);
        __syncthreads(); // the offsets are there
        const Place place = find_place(call, {batch, 0});
        compute_constants(call, place,
                          call.constants + batch * call.constants_stride);
    }
}
