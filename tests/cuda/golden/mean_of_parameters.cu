// d_i + mean_j exp(-|A @ (x_i - y_j)|²) c_i
// threads=64 rows_per_thread=8 tile_columns=128 columns_unrolled=1 width_block=1 resident=9 state_columns=20
constexpr int threads = 64;
constexpr int rows_per_thread = 8;
constexpr int tile_columns = 128;
constexpr int columns_unrolled = 1;
constexpr int block_rows = 512;
constexpr int shared_bytes = 4280;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 4;

struct Constants {
    double A[6];
};

struct Row {
    double x[3];
};

struct __align__(16) Column {
    double y[3];
};

struct Partial {
    double sum;
};

struct State {
    double sum;
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
    const char* A_at = point(call, place, 2, 0LL);
    for (int k = threadIdx.x; k < 6; k += threads) {
        put_element(constants, k, load_f64(A_at + k / 3 *
            call.operands[2].component + k % 3 * call.operands[2].column));
    }
}

static __device__ __forceinline__ Constants
load_constants(const Call& call, const Place& place) {
    Constants constants;
    const double* from = call.constants + place.batch * call.constants_stride;
    #pragma unroll
    for (int k = 0; k < 6; ++k) {
        constants.A[k] = array_at<double>(from)[k];
    }
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* x_at = point(call, place, 3, i);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        row.x[d] = load_f64(x_at + d * call.operands[3].component);
    }
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* y_at = point(call, place, 4, j);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        column.y[d] = load_f64(y_at + d * call.operands[4].component);
    }
    return column;
}

static __device__ __forceinline__ void
identity(const Constants& constants, State& state) {
    state.sum = 0.0;
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    partial.sum = 0.0;
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ void
add(const Constants& constants, const Row& row, const Column& column, int k,
        Partial& partial) {
    double sqnorm_8 = 0.0;
    #pragma unroll
    for (int d = 0; d < 2; ++d) {
        double matvec_7 = 0.0;
        #pragma unroll
        for (int d_2 = 0; d_2 < 3; ++d_2) {
            matvec_7 = fma(constants.A[d * 3 + d_2], row.x[d_2] - column.y[d_2],
                matvec_7);
        }
        const double x = matvec_7;
        sqnorm_8 = fma(x, x, sqnorm_8);
    }
    const double mul_9 = -1.4426950408889634 * sqnorm_8;
    partial.sum += power_of_two(mul_9);
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    state.sum += partial.sum;
}

// `from` covers later columns.
static __device__ __forceinline__ void
merge(const Constants& constants, const State& from, State& state) {
    state.sum += from.sum;
}

static __device__ __forceinline__ void
load_state(const double* place, long long stride, State& state) {
    take(place + 0 * stride, state.sum);
}

static __device__ __forceinline__ void
store_state(double* place, long long stride, const State& state) {
    put(place + 0 * stride, state.sum);
}

static __device__ __forceinline__ State
state_of_lane(const State& state, int apart) {
    State other;
    other.sum = of_lane(state.sum, apart);
    return other;
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    const char* d_at = point(call, place, 0, i);
    const char* c_at = point(call, place, 1, i);
    const double mul_12 = load_f64(c_at) * (state.sum / double(terms));
    write(call, out, load_f64(d_at) + mul_12);
}

