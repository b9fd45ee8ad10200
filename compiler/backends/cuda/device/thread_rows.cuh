// compiler/backends/cuda/device/thread_rows.cuh - the rows that a thread holds in
// registers, and their states: its own, or those of all threads of the block.

/// The thread's own row `r`.
static __device__ __forceinline__ long long own_row(const Task& task, int r) {
    return first_row_of(task) +
           (shares_rows ? r : r * threads + int(threadIdx.x));
}

// The code of one row is there once, however many a thread holds: they move up,
// and the next one comes last.
template <class T>
static __device__ __forceinline__ void move_up(T (&held)[rows_per_thread]) {
#pragma unroll
    for (int s = 1; s < rows_per_thread; ++s)
        held[s - 1] = held[s];
}
static __device__ __forceinline__ void
load_rows(const Call& call, const Constants& constants, const Task& task,
          Row (&row)[rows_per_thread]) {
#pragma unroll 1
    for (int r = 0; r < rows_per_thread; ++r) {
        const long long at =
            min(own_row(task, r), last_row_of(call, task) - 1);
        move_up(row);
        row[rows_per_thread - 1] =
            load_row(call, constants, task.place, row_number(call, at));
    }
}
static __device__ __forceinline__ void
store_states(const Call& call, const Task& task,
             State (&state)[rows_per_thread]) {
#pragma unroll 1
    for (int r = 0; r < rows_per_thread; ++r) {
        const long long at = own_row(task, r);
        if (at < last_row_of(call, task))
            store_state(state_of(call, task, at), call.states, state[0]);
        move_up(state);
    }
}

static __device__ __forceinline__ void
begin_states(const Constants& constants, State (&state)[rows_per_thread]) {
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r)
        identity(constants, state[r]);
}
static __device__ __forceinline__ void
begin_tile(const Constants& constants, const State (&state)[rows_per_thread],
           Partial (&partial)[rows_per_thread]) {
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r)
        begin(constants, state[r], partial[r]);
}
/// Adds the partial results of a tile, whose columns count from `first`.
static __device__ __forceinline__ void
fold_tile(const Call& call, const Constants& constants, const Task& task,
          const Partial (&partial)[rows_per_thread], long long first,
          State (&state)[rows_per_thread]) {
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r)
        fold(constants, partial[r],
             pair_number(call, own_row(task, r), first), state[r]);
}

/// Merges the states of a thread's rows into that of the first.
static __device__ __forceinline__ void
merge_rows(const Constants& constants, const Call& call, const Task& task,
           State (&state)[rows_per_thread]) {
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r) {
        if (own_row(task, r) >= last_row_of(call, task))
            identity(constants, state[r]);
        if (r > 0)
            merge(constants, state[r], state[0]);
    }
}
