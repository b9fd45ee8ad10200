// compiler/backends/cuda/device/task.cuh - the units of work of a reduction:
// rows of one batch, and a segment of the columns that they meet.

/// Rows and columns of one unit of work.
struct Task {
    Place place;
    long long first_row, first_column, last_column;
    long long first_state; // of row 0
};

/// Of run `number`: a batch and a part of it.
static __device__ __forceinline__ Place find_run(const Call& call,
                                                 long long number) {
    const Quotient of_parts = divided(number, call.parts);
    return find_place(call, of_parts.whole, of_parts.rest);
}

/// Neighbouring tasks read the same columns.
static __device__ __forceinline__ Task find_task(const Call& call,
                                                 long long number) {
    const Quotient of_blocks = divided(number, call.row_blocks);
    const Quotient of_segments = divided(of_blocks.whole, call.segments);
    const long long run = of_segments.whole, segment = of_segments.rest;
    Task task;
    task.place = find_run(call, run);
    task.first_row = of_blocks.rest * block_rows;
    task.first_state = run * call.rows * call.segments + segment;
    task.first_column = segment * call.segment;
    task.last_column = min(task.first_column + call.segment, call.columns);
    return task;
}
