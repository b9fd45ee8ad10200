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

/// The results, each from `group` states: a row's segments, or what is left of
/// all rows.
extern "C" __global__ void __launch_bounds__(threads)
finish(const __grid_constant__ Call call) {
    const long long kept = folds_rows ? 1 : call.rows;
    const long long results = kept * call.parts * call.batches;
    const long long terms = folds_rows ? call.rows * call.columns : call.columns;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < results; k += step) {
        const Quotient of_rows = divided(k, kept);
        const long long row = of_rows.rest;
        const Place place = find_run(call, of_rows.whole);
        const Constants constants = load_constants(call, place);
        const long long first = k * call.group;
        const State state =
            merged_states(call, constants, first, first + call.group);
        write_result(call, constants, place, row_number(call, row), row,
                     terms, state);
    }
}
