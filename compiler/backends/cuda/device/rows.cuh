// compiler/backends/cuda/device/rows.cuh - the loops of a reduction whose pairs
// are computed one by one. What a formula brings along stands before this:
// Constants, Row, Column, Partial and State, and the functions of them.
//
//   task                                             a block of threads
//     rows into registers, rows_per_thread a thread
//     tile of columns into shared memory             each column once a block
//       partials over the tile, then into the states
//     states to memory, where `finish` merges the segments in their order

/// Columns of a task whose pairs are all met, or of one of its intervals. Read
/// where they are needed: registers are for rows.
static __device__ __forceinline__ long long
first_column_of(const Call& call, const Task& task, long long interval) {
    return chooses ? call.intervals[interval].first : task.first_column;
}
static __device__ __forceinline__ long long
last_column_of(const Call& call, const Task& task, long long interval) {
    return chooses ? call.intervals[interval].last : task.last_column;
}
static __device__ __forceinline__ long long last_row_of(const Call& call,
                                                        const Task& task) {
    return chooses ? task.last_row : call.rows;
}

struct Shared {
    Column tile[tile_columns];
    Task task; // of the block: no thread needs registers for it
};
static_assert(sizeof(Shared) <= shared_bytes, "");

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    auto& [tile, task] = shared;
    const long long tasks = count_tasks(call);
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
            const long long inside = min(at, last_row_of(call, task) - 1);
            const Row next = load_row(call, constants, task.place,
                                      row_number(call, inside));
#pragma unroll
            for (int s = 0; s < rows_per_thread; ++s)
                if (s == r)
                    row[s] = next;
        }
#pragma unroll
        for (int r = 0; r < rows_per_thread; ++r)
            identity(constants, state[r]);
        const long long last_interval = chooses ? task.last_interval : 1;
        for (long long interval = chooses ? task.first_interval : 0;
             interval < last_interval; ++interval) {
            for (long long first = first_column_of(call, task, interval);
                 first < last_column_of(call, task, interval);
                 first += tile_columns) {
                const int count =
                    int(min(last_column_of(call, task, interval) - first,
                            (long long)tile_columns));
                __syncthreads(); // the last tile has been read
#pragma unroll 1
                for (int k = threadIdx.x; k < count; k += threads)
                    tile[k] = load_column(call, constants, task.place,
                                          column_number(call, first + k));
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
                    fold(constants, partial[r], pair_number(call, at, first),
                         state[r]);
                }
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
            if (at < last_row_of(call, task))
                store_state(call.state + task.first_state + at * call.segments,
                            call.states, own);
        }
    }
}
