// compiler/backends/cuda/device/wide_kernel.cuh - the kernel of a sum of weighted
// vectors: a block of threads takes one task after the other, whose sums go to
// memory every `tiles_held` tiles, in double.

static_assert(sizeof(Shared) <= shared_bytes, "");

/// Of a task's columns; `rows` are those of the task's state then.
static __device__ __forceinline__ void
add_columns(const Call& call, const Constants& constants,
            const Row (&row)[thread_rows], Shared& shared, Rows& rows) {
    const Task& task = shared.task;
    long long first = task.first_column;
    if (first < task.last_column)
        begin_columns(call, constants, shared);
    int tiles = 0;
    do {
        if (first < task.last_column)
            add_tile(call, constants, first, tiles, row, shared, rows);
        first += tile_columns;
        if (++tiles % tiles_held == 0 || first >= task.last_column)
            hold_sums(call, task, rows);
    } while (first < task.last_column);
}

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    Task& task = shared.task;
    const long long tasks = count_tasks(call);
    for (long long number = blockIdx.x; number < tasks; number += gridDim.x) {
        __syncthreads(); // the last task is done
        if (threadIdx.x == 0)
            task = find_task(call, number);
        __syncthreads();
        const Constants constants = load_constants(call, task.place);
        bring_left(call, constants, task, shared.vectors);
        Row row[thread_rows];
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            row[r] = load_row(
                call, constants, task.place,
                row_number(call, min(task.first_row + block_row(r),
                                     call.rows - 1)));
        Rows rows;
        begin_rows(rows);
        add_columns(call, constants, row, shared, rows);
        if (is_softmax)
            store_weights(call, task, rows);
    }
}
