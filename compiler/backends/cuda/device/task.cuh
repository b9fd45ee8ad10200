// compiler/backends/cuda/device/task.cuh - the units of work of a reduction:
// rows of one batch, and a segment of the columns that they meet.

/// Rows and columns of one unit of work.
struct Task {
    Place place;
    long long first_row, last_row, first_column, last_column;
    long long first_interval, last_interval; // of chosen pairs
    long long first_state; // of row 0
};

/// Of run `number`: a batch and a part of it.
static __device__ __forceinline__ Place find_run(const Call& call,
                                                 long long number) {
    const Quotient of_parts = divided(number, call.parts);
    return find_place(call, of_parts.whole, of_parts.rest);
}

/// A row tile of chosen pairs, and a part of the width.
static __device__ __forceinline__ Task find_chosen_task(const Call& call,
                                                        long long number) {
    const Quotient of_tiles = divided(number, call.row_blocks);
    const RowTile tile = call.row_tiles[of_tiles.rest];
    Task task;
    task.place = find_place(call, tile.batch, of_tiles.whole);
    task.first_row = tile.first;
    task.last_row = tile.last;
    task.first_column = task.last_column = 0;
    task.first_interval = tile.first_interval;
    task.last_interval = tile.last_interval;
    task.first_state =
        (tile.batch * call.parts + of_tiles.whole) * call.rows;
    return task;
}
static __device__ __forceinline__ long long count_tasks(const Call& call) {
    return chooses ? call.row_blocks * call.parts
                   : call.row_blocks * call.met_segments * call.parts *
                         call.batches;
}

/// Neighbouring tasks read the same columns.
static __device__ __forceinline__ Task find_task(const Call& call,
                                                 long long number) {
    if (chooses)
        return find_chosen_task(call, number);
    const Quotient of_blocks = divided(number, call.row_blocks);
    const Quotient of_segments = divided(of_blocks.whole, call.met_segments);
    const long long run = of_segments.whole, segment = of_segments.rest;
    Task task;
    task.place = find_run(call, run);
    task.first_row = of_blocks.rest * block_rows;
    task.last_row = call.rows;
    task.first_state =
        run * call.rows * call.segments + call.first_segment + segment;
    task.first_column = segment * call.segment;
    task.last_column = min(task.first_column + call.segment, call.columns);
    return task;
}

/// Of the pair of a row with column `column`, among all that a result is of.
static __device__ __forceinline__ long long
pair_number(const Call& call, long long row, long long column) {
    const long long before =
        folds_rows ? (call.first_row + row) * call.all_columns : 0;
    return before + call.first_column + column;
}
