// compiler/backends/cuda/device/block.cuh - the states of threads made one.

/// Merges the states of so many neighbouring lanes, a power of two, in each.
static __device__ __forceinline__ void merge_lanes(const Constants& constants,
                                                   State& state, int lanes) {
#pragma unroll 1
    for (int apart = 1; apart < lanes; apart *= 2)
        merge(constants, state_of_lane(state, apart), state);
}

/// Merges the states of a block's threads. The block holds a state of each of
/// its warps in shared memory; afterwards the first thread has what all had.
static __device__ __forceinline__ void
merge_block(const Constants& constants, State& state, State* of_warps) {
    merge_lanes(constants, state, 32);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = state;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
#pragma unroll 1
    for (int warp = 1; warp < threads / 32; ++warp)
        merge(constants, of_warps[warp], state);
}

/// Returns where the block's state lies, in a reduction over both axes.
static __device__ __forceinline__ double* state_of_block(const Call& call) {
    return call.state + (call.first_run + blockIdx.z) * call.run +
           blockIdx.x * call.segments + call.first_segment + blockIdx.y;
}

/// Stores the first thread's state, or writes the result where there is no other.
static __device__ __forceinline__ void
store_block(const Call& call, const Constants& constants, const Task& task,
            const State& state) {
    if (threadIdx.x > 0)
        return;
    if (call.finishes)
        write_result(call, constants, with_results(call, task.place), 0, 0,
                     call.rows * call.columns, state);
    else
        store_state(state_of_block(call), call.states, state);
}
