// compiler/backends/cuda/device/task.cuh - what a block of threads computes: rows
// of one run, and a segment of the columns that they meet. Its coordinates are
// the rows, the segment and the run, in the launch.

struct Task {
    Place place;  // without `out`
    RowTile rows; // of chosen pairs
};

/// Finds the block's task. Its threads may read it after their next barrier.
static __device__ __forceinline__ void find_task(const Call& call, Task& task) {
    const Run run = chooses ? Run{call.row_tiles[blockIdx.x].batch,
                                  call.first_run + blockIdx.z}
                            : find_run(call);
#pragma unroll 1
    for (int k = threadIdx.x; k < operand_count; k += threads)
        task.place.array[k] = array_of(call, run.batch, k);
    if (threadIdx.x > 0)
        return;
    find_part(call, run, task.place);
    if (chooses)
        task.rows = call.row_tiles[blockIdx.x];
}

// Computed where they are needed: registers are for rows.
static __device__ __forceinline__ long long first_row_of(const Task& task) {
    return chooses ? task.rows.first : (long long)blockIdx.x * block_rows;
}
static __device__ __forceinline__ long long last_row_of(const Call& call,
                                                        const Task& task) {
    return chooses ? task.rows.last : call.rows;
}
static __device__ __forceinline__ long long first_column_of(const Call& call) {
    return blockIdx.y * call.segment;
}
static __device__ __forceinline__ long long last_column_of(const Call& call) {
    return min(first_column_of(call) + call.segment, call.columns);
}

/// Returns where a row's state of the block's segment lies.
static __device__ __forceinline__ double*
state_of(const Call& call, const Task& task, long long row) {
    const long long run =
        chooses ? task.place.batch * call.parts + call.first_run + blockIdx.z
                : call.first_run + blockIdx.z;
    return call.state + (run * call.rows + row) * call.segments +
           call.first_segment + blockIdx.y;
}

/// Returns the number of the pair of `row` and `column` among all pairs that a
/// result is of.
static __device__ __forceinline__ long long
pair_number(const Call& call, long long row, long long column) {
    const long long before =
        folds_rows ? (call.first_row + row) * call.all_columns : 0;
    return before + call.first_column + column;
}
