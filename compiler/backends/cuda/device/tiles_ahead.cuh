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

/// What scores take of a tile whose addresses are there.
static __device__ __forceinline__ void
begin_tile(const Call& call, const Constants& constants, long long first,
           const ColumnAddress (&addresses)[tile_columns], Shared& shared) {
    load_columns(call, constants, shared.task, first,
                 columns_from(call, first), shared.tile);
    copy_right(call, shared.task, addresses, shared.vectors.right);
}

/// Before the first tile of a task's columns.
static __device__ __forceinline__ void
begin_columns(const Call& call, const Constants& constants, Shared& shared) {
    const long long first = first_column_of(call);
    find_addresses(call, shared.task, first, columns_from(call, first),
                   shared.addresses[0]);
    __syncthreads();
    begin_tile(call, constants, first, shared.addresses[0], shared);
}

/// Tile `number`, which was begun; begins the next.
static __device__ __forceinline__ void
add_tile(const Call& call, const Constants& constants, long long first,
         int number, const Row (&row)[thread_rows], Shared& shared,
         Rows& rows) {
    auto& [vectors, values, both, tile, task] = shared;
    const ColumnAddress(&addresses)[tile_columns] = both[number % 2];
    ColumnAddress(&ahead)[tile_columns] = both[(number + 1) % 2];
    const long long next = first + tile_columns;
    ptx_wait_for_copies();
    __syncthreads(); // keys are there, and the last values have been read
    copy_values(call, task, addresses, values);
    float score[thread_rows][thread_columns] = {};
    multiply(vectors.left, vectors.right, 0, score);
    weigh_tile(constants, row, tile, vectors, columns_from(call, first), score,
               rows);
    if (next < last_column_of(call))
        find_addresses(call, task, next, columns_from(call, next), ahead);
    ptx_wait_for_copies();
    __syncthreads(); // values are there, and the keys have been read
    if (next < last_column_of(call))
        begin_tile(call, constants, next, ahead, shared);
    add_values(score, values, rows.sum);
}
