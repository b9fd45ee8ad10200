// compiler/backends/cuda/device/fold_rows.cuh - of reductions over both axes:
// the states of rows become fewer and fewer, until `finish` takes the rest.

/// Every `group` neighbouring states of a run to one of call.merged, whose
/// stride is as many as there are.
extern "C" __global__ void __launch_bounds__(threads)
merge_states(const __grid_constant__ Call call) {
    const long long groups =
        divided(call.run + call.group - 1, call.group).whole;
    const long long results = groups * call.parts * call.batches;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < results; k += step) {
        const Quotient of_groups = divided(k, groups);
        const long long run = of_groups.whole, group = of_groups.rest;
        const Place place = find_run(call, run);
        const Constants constants = load_constants(call, place);
        const long long first = run * call.run + group * call.group;
        const long long last =
            run * call.run + min((group + 1) * call.group, call.run);
        store_state(call.merged + k, results,
                    merged_states(call, constants, first, last));
    }
}
