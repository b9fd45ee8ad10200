// compiler/backends/cuda/device/fold_rows.cuh - of reductions over both axes:
// the states of rows become fewer and fewer, until `finish` takes the rest.

/// Every `group` neighbouring states of a run to one of call.merged, whose
/// stride is as many as there are.
extern "C" __global__ void __launch_bounds__(threads)
merge_states(const __grid_constant__ Call call) {
    const int lanes = int(call.lanes);
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long run = call.first_run + blockIdx.z;
    const long long in_block = threads / lanes;
    for (long long begun = blockIdx.x * in_block; begun < call.groups;
         begun += gridDim.x * in_block) {
        const long long k = begun + threadIdx.x / lanes;
        const long long first = min(k * call.group, call.run);
        const State state = merged_states(
            call, constants, run * call.run + first,
            run * call.run + min(first + call.group, call.run));
        if (k < call.groups && threadIdx.x % lanes == 0)
            store_state(call.merged + run * call.groups + k,
                        call.groups * call.parts * call.batches, state);
    }
}
