// compiler/backends/cuda/device/columns.cuh - the columns of a tile whose vectors
// are brought some components at a time: found once, read often.

/// Not inlined, so that nothing of it stays in the loops' registers.
static __device__ __noinline__ void find_task_of_tiles(const Call& call,
                                                       Task& task) {
    find_task(call, task);
}

/// Returns how many tiles of columns the block has.
static __device__ __forceinline__ int count_tiles(const Call& call) {
    const long long columns = last_column_of(call) - first_column_of(call);
    return int((columns + tile_columns - 1) / tile_columns);
}
/// How many columns the tile has that begins at `first`.
static __device__ __forceinline__ int columns_from(const Call& call,
                                                   long long first) {
    return int(min(last_column_of(call) - first, (long long)tile_columns));
}

/// Finds where columns [first, first + count) lie, and repeats the last one
/// behind them.
static __device__ __forceinline__ void
find_addresses(const Call& call, const Task& task, long long first, int count,
               ColumnAddress (&addresses)[tile_columns]) {
#pragma unroll 1
    for (int k = threadIdx.x; k < tile_columns; k += threads)
        addresses[k] = column_address(
            call, task.place,
            column_number(call, first + min(k, count - 1)));
}
static __device__ __forceinline__ void
load_columns(const Call& call, const Constants& constants, const Task& task,
             long long first, int count, Column (&tile)[tile_columns]) {
#pragma unroll 1
    for (int k = threadIdx.x; k < count; k += threads)
        tile[k] = load_column(call, constants, task.place,
                              column_number(call, first + k));
}

/// Threads may read `addresses` then, and `tile` after their next barrier.
static __device__ __forceinline__ void
find_columns(const Call& call, const Constants& constants, const Task& task,
             long long first, int count,
             ColumnAddress (&addresses)[tile_columns],
             Column (&tile)[tile_columns]) {
    find_addresses(call, task, first, count, addresses);
    __syncthreads(); // the last tile has been read
    load_columns(call, constants, task, first, count, tile);
}
