// compiler/backends/cuda/device/rows.cuh - the loops of a reduction whose pairs
// are computed one by one. What a formula brings along stands before this:
// Constants, Row, Column, Partial and State, and the functions of them.
//
//   task                                             a block of threads
//     rows into registers, rows_per_thread a thread
//     tile of columns into shared memory             each column once a block
//       partials over the tile, then into the states
//     states to memory, where `finish` merges the segments in their order

struct Shared {
    Column tile[tile_columns];
    Task task;
    State of_warps[folds_blocks ? threads / 32 : 1];
};
static_assert(sizeof(Shared) <= shared_bytes, "");

/// The pairs of the rows with `count` columns, the first of which is column k of
/// the tile and lies at `at`.
template <int count>
static __device__ __forceinline__ void
add_columns(const Constants& constants, const Row (&row)[rows_per_thread],
            SharedAddress at, int k, Partial (&partial)[rows_per_thread]) {
#pragma unroll
    for (int u = 0; u < count; ++u) {
        const Column column =
            ptx_load_shared<Column>(at + u * int(sizeof(Column)));
#pragma unroll
        for (int r = 0; r < rows_per_thread; ++r)
            add(constants, row[r], column, k + u, partial[r]);
    }
}

/// A loop that counts by the column's address takes an instruction less than one
/// that counts columns.
static __device__ __forceinline__ void
add_tile(const Constants& constants, const Row (&row)[rows_per_thread],
         const Column (&tile)[tile_columns], int count,
         Partial (&partial)[rows_per_thread]) {
    constexpr int size = sizeof(Column);
    const int grouped = count / columns_unrolled * columns_unrolled;
    SharedAddress at = ptx_shared_address(tile);
    const SharedAddress end_of_groups = at + grouped * size;
    const SharedAddress end = at + count * size;
    int k = 0;
#pragma unroll 1
    for (; at != end_of_groups;
         at += columns_unrolled * size, k += columns_unrolled)
        add_columns<columns_unrolled>(constants, row, at, k, partial);
    if (columns_unrolled == 1)
        return;
#pragma unroll 1
    for (; at != end; at += size, ++k)
        add_columns<1>(constants, row, at, k, partial);
}

/// The columns [first, last).
static __device__ __forceinline__ void
add_interval(const Call& call, const Constants& constants,
             const Row (&row)[rows_per_thread], long long first, long long last,
             Shared& shared, State (&state)[rows_per_thread]) {
    auto& [tile, task, of_warps] = shared;
#pragma unroll 1
    for (; first < last; first += tile_columns) {
        const int count = int(min(last - first, (long long)tile_columns));
        __syncthreads(); // the last tile has been read
#pragma unroll 1
        for (int k = threadIdx.x; k < count; k += threads)
            tile[k] = load_column(call, constants, task.place,
                                  column_number(call, first + k));
        __syncthreads();
        Partial partial[rows_per_thread];
        begin_tile(constants, state, partial);
        add_tile(constants, row, tile, count, partial);
        fold_tile(call, constants, task, partial, first, state);
    }
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
    if (!chooses)
        add_interval(call, constants, row, first_column_of(call),
                     last_column_of(call), shared, state);
    else
        for (long long k = task.rows.first_interval;
             k < task.rows.last_interval; ++k)
            add_interval(call, constants, row, call.intervals[k].first,
                         call.intervals[k].last, shared, state);
    if (!folds_blocks)
        return store_states(call, task, state);
    merge_rows(constants, call, task, state);
    merge_block(constants, state[0], shared.of_warps);
    store_block(call, constants, task, state[0]);
}
