// compiler/backends/cuda/device/reduce.cuh - the loops of a reduction. What a
// formula brings along stands before this: Constants, Row, Column, Partial and
// State, and the functions of them.
//
//   task (rows of one batch, segment of columns)     a block of threads
//     rows into registers, rows_per_thread a thread
//     tile of columns into shared memory             each column once a block
//       partials over the tile, then into the states
//     states to memory, where `finish` merges the segments in their order

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
    constexpr long long block = (long long)threads * rows_per_thread;
    const Quotient of_blocks = divided(number, call.row_blocks);
    const Quotient of_segments = divided(of_blocks.whole, call.segments);
    const long long run = of_segments.whole, segment = of_segments.rest;
    Task task;
    task.place = find_run(call, run);
    task.first_row = of_blocks.rest * block;
    task.first_state = run * call.rows * call.segments + segment;
    task.first_column = segment * call.segment;
    task.last_column = min(task.first_column + call.segment, call.columns);
    return task;
}

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    __shared__ Column tile[tile_columns];
    __shared__ Task task; // of the block: no thread needs registers for it
    const long long tasks =
        call.row_blocks * call.segments * call.parts * call.batches;
    for (long long number = blockIdx.x; number < tasks; number += gridDim.x) {
        __syncthreads(); // the last task is done
        if (threadIdx.x == 0)
            task = find_task(call, number);
        __syncthreads();
        const Constants constants = load_constants(call, task.place);
        Row row[rows_per_thread];
        State state[rows_per_thread];
        // The code of one row is there once, however many a thread holds.
#pragma unroll 1
        for (int r = 0; r < rows_per_thread; ++r) {
            const long long at = task.first_row + r * threads + threadIdx.x;
            const long long inside = min(at, call.rows - 1);
            const Row next = load_row(call, constants, task.place,
                                      listed(call.row_index, inside));
#pragma unroll
            for (int s = 0; s < rows_per_thread; ++s)
                if (s == r)
                    row[s] = next;
        }
#pragma unroll
        for (int r = 0; r < rows_per_thread; ++r)
            identity(constants, state[r]);
        for (long long first = task.first_column; first < task.last_column;
             first += tile_columns) {
            const int count =
                int(min(task.last_column - first, (long long)tile_columns));
            __syncthreads(); // the last tile has been read
#pragma unroll 1
            for (int k = threadIdx.x; k < count; k += threads)
                tile[k] = load_column(call, constants, task.place,
                                      listed(call.column_index, first + k));
            __syncthreads();
            Partial partial[rows_per_thread];
#pragma unroll
            for (int r = 0; r < rows_per_thread; ++r)
                begin(constants, state[r], partial[r]);
#pragma unroll columns_unrolled
            for (int k = 0; k < count; ++k) {
                const Column column = tile[k];
#pragma unroll
                for (int r = 0; r < rows_per_thread; ++r)
                    add(constants, row[r], column, k, partial[r]);
            }
#pragma unroll
            for (int r = 0; r < rows_per_thread; ++r) {
                const long long at = task.first_row + r * threads + threadIdx.x;
                const long long base = folds_rows ? at * call.columns : 0;
                fold(constants, partial[r], base + first, state[r]);
            }
        }
#pragma unroll 1
        for (int r = 0; r < rows_per_thread; ++r) {
            const long long at = task.first_row + r * threads + threadIdx.x;
            State own = state[0];
#pragma unroll
            for (int s = 1; s < rows_per_thread; ++s)
                if (s == r)
                    own = state[s];
            if (at < call.rows)
                store_state(call.state + task.first_state + at * call.segments,
                            call.states, own);
        }
    }
}

/// The states [first, last), merged in their order.
static __device__ __forceinline__ State merged_states(const Call& call,
                                                      const Constants& constants,
                                                      long long first,
                                                      long long last) {
    State state;
    identity(constants, state);
#pragma unroll 1
    for (long long at = first; at < last; ++at) {
        State next;
        load_state(call.state + at, call.states, next);
        merge(constants, next, state);
    }
    return state;
}

/// The results, each from `group` states: a row's segments, or what is left of
/// all rows.
extern "C" __global__ void __launch_bounds__(threads)
finish(const __grid_constant__ Call call) {
    const long long kept = folds_rows ? 1 : call.rows;
    const long long results = kept * call.parts * call.batches;
    const long long terms = folds_rows ? call.rows * call.columns : call.columns;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < results; k += step) {
        const Quotient of_rows = divided(k, kept);
        const long long row = of_rows.rest;
        const Place place = find_run(call, of_rows.whole);
        const Constants constants = load_constants(call, place);
        const long long first = k * call.group;
        const State state =
            merged_states(call, constants, first, first + call.group);
        write_result(call, constants, place, listed(call.row_index, row), row,
                     terms, state);
    }
}
