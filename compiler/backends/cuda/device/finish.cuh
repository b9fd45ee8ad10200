// compiler/backends/cuda/device/finish.cuh - from states to results.

/// The states [first, last), merged in their order.
static __device__ __forceinline__ State merged_states(const Call& call,
                                                      const Constants& constants,
                                                      long long first,
                                                      long long last) {
    State state;
    identity(constants, state);
#pragma unroll 1
    for (long long at = first; at < last; ++at) {
        State next;
        load_state(call.state + at, call.states, next);
        merge(constants, next, state);
    }
    return state;
}

/// The results of a run, each from `group` states: a row's segments, or what is
/// left of all rows.
extern "C" __global__ void __launch_bounds__(threads)
finish(const __grid_constant__ Call call) {
    const long long kept = folds_rows ? 1 : call.rows;
    const long long terms = folds_rows ? call.rows * call.columns : call.columns;
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long before = (call.first_run + blockIdx.z) * kept;
    const long long step = (long long)gridDim.x * threads;
    for (long long row = (long long)blockIdx.x * threads + threadIdx.x;
         row < kept; row += step) {
        const long long first = (before + row) * call.group;
        const State state =
            merged_states(call, constants, first, first + call.group);
        write_result(call, constants, place, row_number(call, row), row,
                     terms, state);
    }
}
