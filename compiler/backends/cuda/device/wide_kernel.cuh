// compiler/backends/cuda/device/wide_kernel.cuh - the kernel of a sum of weighted
// vectors: the sums of a block go to memory every `tiles_held` tiles, in double.

static_assert(sizeof(Shared) <= shared_bytes, "");

/// Adds a task's columns; `rows` hold the task's state then.
static __device__ __forceinline__ void
add_columns(const Call& call, const Constants& constants,
            const Row (&row)[thread_rows], Shared& shared, Rows& rows) {
    const Task& task = shared.task;
    const long long last = last_column_of(call);
    long long first = first_column_of(call);
    if (first < last)
        begin_columns(call, constants, shared);
    int tiles = 0;
    do {
        if (first < last)
            add_tile(call, constants, first, tiles, row, shared, rows);
        first += tile_columns;
        if (++tiles % tiles_held == 0 || first >= last)
            hold_sums(call, task, rows);
    } while (first < last);
}

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    const Task& task = shared.task;
    find_task_of_tiles(call, shared.task);
    __syncthreads();
    const Constants constants = load_constants(call, task.place);
    bring_left(call, constants, task, shared.vectors);
    Row row[thread_rows];
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
        row[r] = load_row(
            call, constants, task.place,
            row_number(call, min(first_row_of(task) + block_row(r),
                                 call.rows - 1)));
    Rows rows;
    begin_rows(rows);
    add_columns(call, constants, row, shared, rows);
    if (is_softmax)
        store_weights(call, task, rows);
}
