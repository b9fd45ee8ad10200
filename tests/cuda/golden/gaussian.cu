// sum_j exp(-|x_i - y_j|²/2l²) b_j
// threads=64 rows_per_thread=8 tile_columns=128 columns_unrolled=1 width_block=1 resident=13 state_columns=20
constexpr int threads = 64;
constexpr int rows_per_thread = 8;
constexpr int tile_columns = 128;
constexpr int columns_unrolled = 1;
constexpr int block_rows = 512;
constexpr int shared_bytes = 4272;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 4;

struct Constants {
    float div_6;
};

struct Row {
    float x[3];
};

struct __align__(16) Column {
    float b;
    float y[3];
};

struct Partial {
    float sum;
};

struct State {
    double sum;
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
    const char* l_at = point(call, place, 1, 0LL);
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
    take(from, constants.div_6);
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* x_at = point(call, place, 2, i);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        row.x[d] = load_f32(x_at + d * call.operands[2].component);
    }
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* b_at = point(call, place, 0, j);
    const char* y_at = point(call, place, 3, j);
    column.b = load_f32(b_at);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        column.y[d] = load_f32(y_at + d * call.operands[3].component);
    }
    return column;
}

static __device__ __forceinline__ void
identity(const Constants& constants, State& state) {
    state.sum = 0.0;
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    partial.sum = 0.0f;
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ void
add(const Constants& constants, const Row& row, const Column& column, int k,
        Partial& partial) {
    float sqdist_9 = 0.0f;
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        const float difference = row.x[d] - column.y[d];
        sqdist_9 = fma(difference, difference, sqdist_9);
    }
    const float exp2_11 = power_of_two(constants.div_6 * sqdist_9);
    partial.sum += column.b * exp2_11;
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    state.sum += double(partial.sum);
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
    write(call, out, float(state.sum));
}

