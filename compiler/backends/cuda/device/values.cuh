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

/// Rows of a block, where they fit; neighbouring threads load different ones.
struct __align__(16) HeldRow {
    Row row;
};
constexpr bool holds_rows = shared_bytes > 0;
struct Shared {
    HeldRow row[holds_rows ? rows_per_thread : 1];
};
static_assert(!holds_rows || sizeof(Shared) <= shared_bytes, "");

static __device__ __forceinline__ void
hold_rows(const Call& call, const Constants& constants, const Place& place,
          long long first, int count, Shared& shared) {
    __syncthreads(); // the last rows have been read
#pragma unroll 1
    for (int r = threadIdx.x; r < count; r += threads)
        shared.row[r].row =
            load_row(call, constants, place, row_number(call, first + r));
    __syncthreads();
}

/// A thread holds some columns and meets the rows of its block with them;
/// neighbouring threads write neighbouring columns.
extern "C" __global__ void __launch_bounds__(threads)
dense(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
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
        const int count =
            int(min(call.rows - begun, (long long)rows_per_thread));
        if (holds_rows)
            hold_rows(call, constants, place, begun, count, shared);
        char* out =
            place.out + begun * call.out_row + first * call.out_column;
#pragma unroll 1
        for (int r = 0; r < count; ++r, out += call.out_row) {
            const Row row =
                holds_rows ? ptx_load_shared<HeldRow>(
                                 ptx_shared_address(&shared.row[r]))
                                 .row
                           : load_row(call, constants, place,
                                      row_number(call, begun + r));
#pragma unroll
            for (int c = 0; c < columns_unrolled; ++c)
                if (first + c * threads < call.columns)
                    write_value(call, constants, row, column[c],
                                out + c * threads * call.out_column);
        }
    }
}
