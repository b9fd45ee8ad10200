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

static __device__ __forceinline__ long long ceiling(long long a, long long b) {
    return (a + b - 1) / b;
}

/// Neighbouring tasks read the same columns.
static __device__ __forceinline__ Task find_task(const Call& call,
                                                 long long number) {
    constexpr long long block = (long long)threads * rows_per_thread;
    const long long blocks = ceiling(call.rows, block);
    Task task;
    task.first_row = number % blocks * block;
    number /= blocks;
    const long long segment = number % call.segments;
    number /= call.segments;
    task.first_state = number * call.rows * call.segments + segment;
    task.place =
        find_place(call, number / call.parts, number % call.parts);
    task.first_column = segment * call.segment;
    task.last_column = min(task.first_column + call.segment, call.columns);
    return task;
}

static __device__ __forceinline__ long long count_tasks(const Call& call) {
    constexpr long long block = (long long)threads * rows_per_thread;
    return ceiling(call.rows, block) * call.segments * call.parts *
           call.batches;
}

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    __shared__ Column tile[tile_columns];
    __shared__ Task task; // of the block: no thread needs registers for it
    const long long tasks = count_tasks(call);
    for (long long number = blockIdx.x; number < tasks; number += gridDim.x) {
        __syncthreads(); // the last task is done
        if (threadIdx.x == 0)
            task = find_task(call, number);
        __syncthreads();
        const Constants constants = load_constants(call, task.place);
        Row row[rows_per_thread];
        State state[rows_per_thread];
#pragma unroll
        for (int r = 0; r < rows_per_thread; ++r) {
            const long long at = task.first_row + r * threads + threadIdx.x;
            const long long inside = min(at, call.rows - 1);
            row[r] = load_row(call, constants, task.place,
                              listed(call.row_index, inside));
            identity(constants, state[r]);
            ptx_in_order(); // all rows' loads at once would spill registers
        }
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
#pragma unroll
        for (int r = 0; r < rows_per_thread; ++r) {
            const long long at = task.first_row + r * threads + threadIdx.x;
            if (at < call.rows)
                store_state(call.state + task.first_state + at * call.segments,
                            call.states, state[r]);
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
        const long long row = k % kept, part = k / kept;
        const Place place =
            find_place(call, part / call.parts, part % call.parts);
        const Constants constants = load_constants(call, place);
        const long long first = k * call.group;
        const State state =
            merged_states(call, constants, first, first + call.group);
        write_result(call, constants, place, listed(call.row_index, row), row,
                     terms, state);
    }
}
