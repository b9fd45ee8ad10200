// compiler/backends/cuda/device/pairs.cuh - the loops of a reduction whose
// pairs meet in an inner product or a squared distance of vectors: tiles of
// pairs, as a matrix product has them.
//
//   task                                             a block of threads
//     left vectors of its rows into shared memory
//     tile of columns: right vectors, `chunk` components at a time
//       products of 32 rows and all columns of the tile    a warp
//       partials over them, then into the states
//     states of the lanes that share a row become one, by shuffles

struct Shared {
    Vectors vectors;
    ColumnAddress addresses[tile_columns];
    Column tile[tile_columns];
    Task task;
    State of_warps[folds_blocks ? threads / 32 : 1];
};
static_assert(sizeof(Shared) <= shared_bytes, "");

// Two blocks of 256 threads share a multiprocessor, with 128 registers a thread;
// of smaller blocks (0) the compiler chooses.
extern "C" __global__ void __launch_bounds__(threads, threads > 128 ? 2 : 0)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    auto& [vectors, addresses, tile, task, of_warps] = shared;
    find_task_of_tiles(call, task);
    __syncthreads();
    const Constants constants = load_constants(call, task.place);
    bring_left(call, constants, task, vectors);
    Row row[thread_rows];
    State state[thread_rows];
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        const long long at =
            min(first_row_of(task) + block_row(r), call.rows - 1);
        row[r] =
            load_row(call, constants, task.place, row_number(call, at));
        identity(constants, state[r]);
    }
    const int tiles = count_tiles(call);
#pragma unroll 1
    for (int number = 0; number < tiles; ++number) {
        const long long first = first_column_of(call) + (long long)number * tile_columns;
        const int count = columns_from(call, first);
        find_columns(call, constants, task, first, count, addresses, tile);
        float product[thread_rows][thread_columns];
        multiply_tile(call, constants, task, addresses, vectors, product);
        Partial partial[thread_rows];
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            begin(constants, state[r], partial[r]);
#pragma unroll
        for (int c = 0; c < thread_columns; ++c) {
            const int k = tile_column(c);
            if (k >= count)
                continue;
            const Column column = tile[k];
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
                add(constants, row[r], column, k,
                    finished(product[r][c], vectors, k), partial[r]);
        }
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            fold(constants, partial[r],
                 pair_number(call, first_row_of(task) + block_row(r), first),
                 state[r]);
    }
    if (folds_blocks) {
#pragma unroll
        for (int r = 0; r < thread_rows; ++r) {
            if (first_row_of(task) + block_row(r) >= call.rows)
                identity(constants, state[r]);
            if (r > 0)
                merge(constants, state[r], state[0]);
        }
        merge_block(constants, state[0], of_warps);
        return store_block(call, constants, task, state[0]);
    }
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        merge_lanes(constants, state[r], row_lanes);
        const long long at = first_row_of(task) + block_row(r);
        if (at < call.rows && threadIdx.x % row_lanes == 0)
            store_state(state_of(call, task, at), call.states, state[r]);
    }
}
