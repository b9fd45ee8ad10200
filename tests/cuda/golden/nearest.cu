// argmin_j |x_i - y_j|²
// threads=64 rows_per_thread=8 tile_columns=128 columns_unrolled=1 width_block=1 resident=10 state_columns=24
constexpr int threads = 64;
constexpr int rows_per_thread = 8;
constexpr int tile_columns = 128;
constexpr int columns_unrolled = 1;
constexpr int block_rows = 512;
constexpr int shared_bytes = 2216;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 4;

struct Constants {
};

struct Row {
    float x[3];
};

struct __align__(16) Column {
    float y[3];
};

struct Partial {
    float best;
    int column;
};

struct State {
    double best;
    long long index;
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
}

static __device__ __forceinline__ Constants
load_constants(const Call& call, const Place& place) {
    Constants constants;
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* x_at = point(call, place, 0, i);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        row.x[d] = load_f32(x_at + d * call.operands[0].component);
    }
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* y_at = point(call, place, 1, j);
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        column.y[d] = load_f32(y_at + d * call.operands[1].component);
    }
    return column;
}

static __device__ __forceinline__ void
identity(const Constants& constants, State& state) {
    state.best = infinity<double>();
    state.index = -1LL;
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    partial.best = infinity<float>();
    partial.column = -1;
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ void
add(const Constants& constants, const Row& row, const Column& column, int k,
        Partial& partial) {
    float sqdist_2 = 0.0f;
    #pragma unroll
    for (int d = 0; d < 3; ++d) {
        const float difference = row.x[d] - column.y[d];
        sqdist_2 = fma(difference, difference, sqdist_2);
    }
    const float x = sqdist_2;
    if (undercuts(x, partial.best)) {
        partial.best = x;
        partial.column = k;
    }
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    const double x = double(partial.best);
    if (0 <= partial.column && undercuts(x, state.best)) {
        state.best = x;
        state.index = first + partial.column;
    }
}

// `from` covers later columns.
static __device__ __forceinline__ void
merge(const Constants& constants, const State& from, State& state) {
    const bool better = undercuts(from.best, state.best) || (same(from.best,
        state.best) && comes_before(from.index, state.index));
    if (better) {
        state.best = from.best;
        state.index = from.index;
    }
}

static __device__ __forceinline__ void
load_state(const double* place, long long stride, State& state) {
    take(place + 0 * stride, state.best);
    take(place + 1 * stride, state.index);
}

static __device__ __forceinline__ void
store_state(double* place, long long stride, const State& state) {
    put(place + 0 * stride, state.best);
    put(place + 1 * stride, state.index);
}

static __device__ __forceinline__ State
state_of_lane(const State& state, int apart) {
    State other;
    other.best = of_lane(state.best, apart);
    other.index = of_lane(state.index, apart);
    return other;
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    write(call, out, 0LL < terms && state.index < 0LL ? 0LL : state.index);
}

