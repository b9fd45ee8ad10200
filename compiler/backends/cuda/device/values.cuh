// compiler/backends/cuda/device/values.cuh - the pair term as it stands: of
// pairs (row k, column k), or of all rows and columns.

static __device__ __forceinline__ void
write_one(const Call& call, const Constants& constants, const Place& place,
          long long row, long long column, char* out) {
    const long long i = row_number(call, row);
    const long long j = column_number(call, column);
    write_value(call, constants, load_row(call, constants, place, i),
                load_column(call, constants, place, j), out);
}

extern "C" __global__ void __launch_bounds__(threads)
zip(const __grid_constant__ Call call) {
    const long long total = call.rows * call.batches;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x; k < total;
         k += step) {
        const Quotient of_rows = divided(k, call.rows);
        const long long row = of_rows.rest;
        const Place place = find_place(call, of_rows.whole, 0);
        const Constants constants = load_constants(call, place);
        write_one(call, constants, place, row, row,
                  place.out + row * call.out_row);
    }
}

/// Neighbouring threads write neighbouring columns.
extern "C" __global__ void __launch_bounds__(threads)
dense(const __grid_constant__ Call call) {
    const long long pairs = call.rows * call.columns;
    const long long step = (long long)gridDim.x * threads;
    for (long long k = (long long)blockIdx.x * threads + threadIdx.x;
         k < pairs * call.batches; k += step) {
        const Quotient of_pairs = divided(k, pairs);
        const Quotient of_columns = divided(of_pairs.rest, call.columns);
        const long long row = of_columns.whole, column = of_columns.rest;
        const Place place = find_place(call, of_pairs.whole, 0);
        const Constants constants = load_constants(call, place);
        write_one(call, constants, place, row, column,
                  place.out + row * call.out_row +
                      column * call.out_column);
    }
}
