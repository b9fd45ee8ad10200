// compiler/backends/cuda/device/tiles_ahead.cuh - the loop over tiles of columns,
// where vectors are copied while others are multiplied: of a tile, values while
// its scores are computed; of the next one, what scores take while weights and
// values are multiplied. As FlashAttention-2 has it.

struct Shared {
    Vectors vectors;
    ValueTile values;
    ColumnAddress addresses[2][tile_columns]; // of this tile and the next
    Column tile[tile_columns];
    Task task;
};

static __device__ __forceinline__ int columns_from(const Task& task,
                                                   long long first) {
    return int(min(task.last_column - first, (long long)tile_columns));
}

/// What scores take of a tile whose addresses are there.
static __device__ __forceinline__ void
begin_tile(const Call& call, const Constants& constants, long long first,
           const ColumnAddress (&addresses)[tile_columns], Shared& shared) {
    load_columns(call, constants, shared.task, first,
                 columns_from(shared.task, first), shared.tile);
    copy_right(call, shared.task, addresses, shared.vectors.right);
}

/// A tile that was begun; begins the next.
static __device__ __forceinline__ void
add_tile(const Call& call, const Constants& constants, long long first,
         const Row (&row)[thread_rows],
         const ColumnAddress (&addresses)[tile_columns],
         ColumnAddress (&ahead)[tile_columns], Shared& shared, Rows& rows) {
    auto& [vectors, values, both, tile, task] = shared;
    const long long next = first + tile_columns;
    ptx_wait_for_copies();
    __syncthreads(); // keys are there, and the last values have been read
    copy_values(call, task, addresses, values);
    float score[thread_rows][thread_columns] = {};
    multiply(vectors.left, vectors.right, 0, score);
    weigh_tile(constants, row, tile, vectors, columns_from(task, first), score,
               rows);
    if (next < task.last_column)
        find_addresses(call, task, next, columns_from(task, next), ahead);
    ptx_wait_for_copies();
    __syncthreads(); // values are there, and the keys have been read
    if (next < task.last_column)
        begin_tile(call, constants, next, ahead, shared);
    add_values(score, values, rows.sum);
}

/// Of a task's columns; `rows` are those of the task's state then.
static __device__ __forceinline__ void
add_columns(const Call& call, const Constants& constants,
            const Row (&row)[thread_rows], Shared& shared, Rows& rows) {
    const Task& task = shared.task;
    long long first = task.first_column;
    if (first < task.last_column) {
        find_addresses(call, task, first, columns_from(task, first),
                       shared.addresses[0]);
        __syncthreads();
        begin_tile(call, constants, first, shared.addresses[0], shared);
    }
    int tiles = 0;
    do {
        if (first < task.last_column)
            add_tile(call, constants, first, row, shared.addresses[tiles % 2],
                     shared.addresses[(tiles + 1) % 2], shared, rows);
        first += tile_columns;
        if (++tiles % tiles_held == 0 || first >= task.last_column)
            hold_sums(call, task, rows);
    } while (first < task.last_column);
}
