// compiler/backends/cuda/device/fold_rows.cuh - of reductions over both axes:
// the states of rows become fewer and fewer, until `finish` takes the rest.

/// Every `group` neighbouring states of a run to one of call.merged, whose
/// stride is as many as there are.
extern "C" __global__ void __launch_bounds__(threads)
merge_states(const __grid_constant__ Call call) {
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long run = call.first_run + blockIdx.z;
    const long long groups = call.groups;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < groups; k += step) {
        const long long first = run * call.run + k * call.group;
        const long long last =
            run * call.run + min((k + 1) * call.group, call.run);
        store_state(call.merged + run * groups + k, call.groups * call.parts * call.batches,
                    merged_states(call, constants, first, last));
    }
}
