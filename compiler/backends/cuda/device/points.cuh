// compiler/backends/cuda/device/points.cuh - the loop of a reduction over the
// points of one axis, which are rows of one column: threads take different ones.

struct Shared {
    Task task;
    State of_warps[threads / 32];
};
static_assert(sizeof(Shared) <= shared_bytes, "");

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    const Task& task = shared.task;
    find_task(call, shared.task);
    __syncthreads();
    const Constants constants = load_constants(call, task.place);
    const Column column =
        load_column(call, constants, task.place, column_number(call, 0));
    const long long first = first_row_of(task);
    const int count = int(min(call.rows - first, (long long)block_rows));
    State state;
    identity(constants, state);
    Partial partial;
    begin(constants, state, partial);
    constexpr int step = threads * columns_unrolled;
#pragma unroll 1
    for (int begun = threadIdx.x; begun < count; begun += step) {
        Row row[columns_unrolled];
#pragma unroll
        for (int u = 0; u < columns_unrolled; ++u)
            row[u] = load_row(
                call, constants, task.place,
                row_number(call, first + min(begun + u * threads, count - 1)));
#pragma unroll
        for (int u = 0; u < columns_unrolled; ++u)
            if (begun + u * threads < count)
                add(constants, row[u], column, begun + u * threads, partial);
    }
    fold(constants, partial, pair_number(call, first, 0), state);
    merge_block(constants, state, shared.of_warps);
    store_block(call, constants, task, state);
}
