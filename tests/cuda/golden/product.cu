// sum_j exp(-|x_i - y_j|²/2l²) b_j
// threads=128 rows_per_thread=1 tile_columns=64 columns_unrolled=4 width_block=1 multiply=fma chunk=16 expands=0 resident=4 state_columns=20
constexpr int threads = 128;
constexpr int rows_per_thread = 1;
constexpr int tile_columns = 64;
constexpr int columns_unrolled = 4;
constexpr int block_rows = 128;
constexpr int shared_bytes = 42064;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 4;
constexpr int components = 64;
constexpr int depth = 64;
constexpr int chunk = 16;
constexpr int squares = 1;
constexpr int expands = 0;
constexpr int clamps = 0;
constexpr int terms = 1;
constexpr int is_f16 = 0;
constexpr int warp_tiles = 2;
constexpr int left_words = 32;
constexpr int right_words = 8;

struct Constants {
    float div_6;
};

struct Row {
};

struct __align__(8) Column {
    float b;
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
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* b_at = point(call, place, 0, j);
    column.b = load_f32(b_at);
    return column;
}

struct ColumnAddress {
    const char* y;
};

static __device__ __forceinline__ ColumnAddress
column_address(const Call& call, const Place& place, long long j) {
    ColumnAddress address;
    const char* y_at = point(call, place, 3, j);
    address.y = y_at;
    return address;
}

struct RowAddress {
    const char* x;
};

static __device__ __forceinline__ RowAddress
row_address(const Call& call, const Place& place, long long i) {
    RowAddress address;
    const char* x_at = point(call, place, 2, i);
    address.x = x_at;
    return address;
}

static __device__ __forceinline__ float
left_component(const Call& call, const Constants& constants,
        const Place& place, const RowAddress& address, int d) {
    return load_f32(address.x + d * call.operands[2].component);
}

static __device__ __forceinline__ Four
left_four(const Call& call, const Constants& constants, const Place& place,
        const RowAddress& address, int d) {
    return load_four_f32(address.x + d * call.operands[2].component,
        call.operands[2].component);
}

static __device__ __forceinline__ float
right_component(const Call& call, const Constants& constants,
        const Place& place, const ColumnAddress& address, int d) {
    return load_bf16(address.y + d * call.operands[3].component);
}

static __device__ __forceinline__ Four
right_four(const Call& call, const Constants& constants, const Place& place,
        const ColumnAddress& address, int d) {
    return load_four_bf16(address.y + d * call.operands[3].component,
        call.operands[3].component);
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
        float product, Partial& partial) {
    const float exp2_11 = power_of_two(constants.div_6 * product);
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

