// compiler/backends/cuda/device/finish.cuh - from states to results.

/// The states [first, last), by call.lanes neighbouring lanes, in each of them.
static __device__ __forceinline__ State merged_states(const Call& call,
                                                      const Constants& constants,
                                                      long long first,
                                                      long long last) {
    const int lanes = int(call.lanes);
    State state;
    identity(constants, state);
#pragma unroll 1
    for (long long at = first + threadIdx.x % lanes; at < last;
         at += lanes * states_ahead) {
        State next[states_ahead]; // loaded beside each other
#pragma unroll
        for (int u = 0; u < states_ahead; ++u) {
            identity(constants, next[u]);
            if (at + u * lanes < last)
                load_state(call.state + at + u * lanes, call.states, next[u]);
        }
#pragma unroll
        for (int u = 0; u < states_ahead; ++u)
            merge(constants, next[u], state);
    }
    merge_lanes(constants, state, lanes);
    return state;
}

/// The results of a run, each from `group` states: a row's segments, or what is
/// left of all rows.
extern "C" __global__ void __launch_bounds__(threads)
finish(const __grid_constant__ Call call) {
    const int lanes = int(call.lanes);
    const long long kept = folds_rows ? 1 : call.rows;
    const long long terms = folds_rows ? call.rows * call.columns : call.columns;
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long before = (call.first_run + blockIdx.z) * kept;
    const long long in_block = threads / lanes;
    for (long long begun = blockIdx.x * in_block; begun < kept;
         begun += gridDim.x * in_block) {
        const long long row = begun + threadIdx.x / lanes;
        const long long first = (before + min(row, kept - 1)) * call.group;
        const State state =
            merged_states(call, constants, first, first + call.group);
        if (row < kept && threadIdx.x % lanes == 0)
            write_result(call, constants, place, row_number(call, row), row,
                         terms, state);
    }
}
