// exp(-|x_i - y_j|²/2l²)
// threads=128 rows_per_thread=32 tile_columns=128 columns_unrolled=4 width_block=1 resident=4 state_columns=16
constexpr int threads = 128;
constexpr int rows_per_thread = 32;
constexpr int tile_columns = 128;
constexpr int columns_unrolled = 4;
constexpr int block_rows = 4096;
constexpr int shared_bytes = 512;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;

struct Constants {
    float div_5;
};

struct Row {
    float x[3];
};

struct __align__(16) Column {
    float y[3];
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
    const char* l_at = point(call, place, 0, 0LL);
    if (threadIdx.x == 0) {
        const double base = load_f64(l_at);
        const double square = base * base;
        put(constants, quotient(-1.4426950408889634, call.literals[0] *
            square));
    }
}

static __device__ __forceinline__ Constants
load_constants(const Call& call, const Place& place) {
    Constants constants;
    const double* from = call.constants + place.batch * call.constants_stride;
    take(from, constants.div_5);
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* x_at = point(call, place, 1, i);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        row.x[d] = load_f32(x_at + d * call.operands[1].component);
    }
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* y_at = point(call, place, 2, j);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        column.y[d] = load_f32(y_at + d * call.operands[2].component);
    }
    return column;
}

static __device__ __forceinline__ void
write_value(const Call& call, const Constants& constants, const Row& row,
        const Column& column, char* out) {
    float sqdist_8 = 0.0f;
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        const float difference = row.x[d] - column.y[d];
        sqdist_8 = fma(difference, difference, sqdist_8);
    }
    const float mul_9 = constants.div_5 * sqdist_8;
    write(call, out, power_of_two(mul_9));
}

