// compiler/backends/cuda/device/prepare.cuh - what is on no axis, once a call
// or, where parameters have batches, once a batch: by one block each.

extern "C" __global__ void __launch_bounds__(threads)
prepare(const __grid_constant__ Call call) {
    for (long long batch = blockIdx.x; batch < call.batches;
         batch += gridDim.x)
        compute_constants(call, find_place(call, batch, 0),
                          call.constants + batch * call.constants_stride);
}
