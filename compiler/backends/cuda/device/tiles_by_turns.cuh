// compiler/backends/cuda/device/tiles_by_turns.cuh - the loop over tiles of columns,
// where a thread brings their vectors and then computes.
//
//   values into shared memory
//   scores of 16 or 32 rows and all columns of the tile    a warp
//   softmax: the rows' maxima, and weights relative to them
//   weights times values, added to sums in registers

struct Shared {
    Vectors vectors;
    ValueTile values;
    ColumnAddress addresses[tile_columns];
    Column tile[tile_columns];
    Task task;
};

static __device__ __forceinline__ void
begin_columns(const Call&, const Constants&, Shared&) {}

static __device__ __forceinline__ void
add_tile(const Call& call, const Constants& constants, long long first, int,
         const Row (&row)[thread_rows], Shared& shared, Rows& rows) {
    auto& [vectors, values, addresses, tile, task] = shared;
    const int count = columns_from(call, first);
    find_columns(call, constants, task, first, count, addresses, tile);
    bring_values(call, constants, task, addresses, values);
    float score[thread_rows][thread_columns];
    multiply_tile(call, constants, task, addresses, vectors, score);
    weigh_tile(constants, row, tile, vectors, count, score, rows);
    add_values(score, values, rows.sum);
}
