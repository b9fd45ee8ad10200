// compiler/backends/cuda/device/column_parallel.cuh - the loops of a reduction over few
// rows: all threads of a block hold the same ones, and meet different columns,
// which they read from memory. Their states become one in the end.

struct Shared {
    Task task;
    State of_warps[rows_per_thread][threads / 32];
};
static_assert(sizeof(Shared) <= shared_bytes, "");

/// The pairs of the rows with the columns [first, last), or the first of them,
/// which a tile holds. Columns are loaded before they are met, some at a time.
static __device__ __forceinline__ void
add_tile(const Call& call, const Constants& constants, const Task& task,
         const Row (&row)[rows_per_thread], long long first, long long last,
         Partial (&partial)[rows_per_thread]) {
    constexpr int step = threads * columns_unrolled;
    const int count = int(min(last - first, (long long)tile_columns));
#pragma unroll 1
    for (int begun = threadIdx.x; begun < count; begun += step) {
        Column column[columns_unrolled];
#pragma unroll
        for (int u = 0; u < columns_unrolled; ++u)
            column[u] = load_column(
                call, constants, task.place,
                column_number(call, first + min(begun + u * threads, count - 1)));
#pragma unroll
        for (int u = 0; u < columns_unrolled; ++u)
            if (begun + u * threads < count)
#pragma unroll
                for (int r = 0; r < rows_per_thread; ++r)
                    add(constants, row[r], column[u], begun + u * threads,
                        partial[r]);
    }
}

/// The state of a row, of which each thread has a part; by the first thread.
static __device__ __forceinline__ void
store_row(const Call& call, const Constants& constants, const Task& task,
          long long row, const State& state) {
    if (threadIdx.x > 0 || row >= call.rows)
        return;
    if (call.finishes)
        write_result(call, constants, with_results(call, task.place),
                     row_number(call, row), row, call.columns, state);
    else
        store_state(state_of(call, task, row), call.states, state);
}

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    const Task& task = shared.task;
    find_task(call, shared.task);
    __syncthreads();
    const Constants constants = load_constants(call, task.place);
    Row row[rows_per_thread];
    load_rows(call, constants, task, row);
    State state[rows_per_thread];
    begin_states(constants, state);
    const long long last = last_column_of(call);
#pragma unroll 1
    for (long long first = first_column_of(call); first < last;
         first += tile_columns) {
        Partial partial[rows_per_thread];
        begin_tile(constants, state, partial);
        add_tile(call, constants, task, row, first, last, partial);
        fold_tile(call, constants, task, partial, first, state);
    }
    if (folds_blocks) {
        merge_rows(constants, call, task, state);
        merge_block(constants, state[0], shared.of_warps[0]);
        return store_block(call, constants, task, state[0]);
    }
    // The code of one row is there once.
#pragma unroll 1
    for (int r = 0; r < rows_per_thread; ++r) {
        merge_block(constants, state[0], shared.of_warps[r]);
        store_row(call, constants, task, own_row(task, r), state[0]);
        move_up(state);
    }
}
