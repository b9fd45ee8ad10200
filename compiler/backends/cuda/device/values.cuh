// compiler/backends/cuda/device/values.cuh - the pair term as it stands: of
// pairs (row k, column k), or of all rows and columns.

extern "C" __global__ void __launch_bounds__(threads)
zip(const __grid_constant__ Call call) {
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < call.rows; k += step)
        write_value(
            call, constants,
            load_row(call, constants, place, row_number(call, k)),
            load_column(call, constants, place, column_number(call, k)),
            place.out + k * call.out_row);
}

/// A thread holds some columns and meets the rows of its block with them;
/// neighbouring threads write neighbouring columns.
extern "C" __global__ void __launch_bounds__(threads)
dense(const __grid_constant__ Call call) {
    const Place place = find_place(call, find_run(call));
    const Constants constants = load_constants(call, place);
    const long long first =
        (long long)blockIdx.x * (threads * columns_unrolled) + threadIdx.x;
    Column column[columns_unrolled];
#pragma unroll
    for (int c = 0; c < columns_unrolled; ++c)
        column[c] = load_column(
            call, constants, place,
            column_number(call, min(first + c * threads, call.columns - 1)));
    const long long step = (long long)gridDim.y * rows_per_thread;
    for (long long begun = (long long)blockIdx.y * rows_per_thread;
         begun < call.rows; begun += step) {
        const long long last = min(begun + rows_per_thread, call.rows);
#pragma unroll 1
        for (long long i = begun; i < last; ++i) {
            const Row row =
                load_row(call, constants, place, row_number(call, i));
            char* out = place.out + i * call.out_row + first * call.out_column;
#pragma unroll
            for (int c = 0; c < columns_unrolled; ++c)
                if (first + c * threads < call.columns)
                    write_value(call, constants, row, column[c],
                                out + c * threads * call.out_column);
        }
    }
}
