// argkmin_j(|x_i - y_j|², 10)
// threads=64 rows_per_thread=2 tile_columns=128 columns_unrolled=1 width_block=1 resident=13 state_columns=2596
constexpr int threads = 64;
constexpr int rows_per_thread = 2;
constexpr int tile_columns = 128;
constexpr int columns_unrolled = 1;
constexpr int block_rows = 128;
constexpr int shared_bytes = 2360;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 1;

struct Constants {
};

struct Row {
    float x[3];
};

struct __align__(16) Column {
    float y[3];
};

struct Partial {
    float value[10];
    int column[10];
    bool changed;
};

struct State {
    double value[10];
    long long index[10];
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
    #pragma unroll
    for (int c = 0; c < 10; ++c) {
        state.value[c] = not_a_number<double>();
        state.index[c] = -1LL;
    }
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    partial.changed = false;
    #pragma unroll
    for (int c = 0; c < 10; ++c) {
        partial.value[c] = float(state.value[c]);
        partial.column[c] = state.index[c] < 0LL ? no_column : -1 - c;
    }
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
    if (!(partial.value[9] <= x)) {
        sink(partial.value, partial.column, x, k);
        partial.changed = true;
    }
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    if (partial.changed) {
        #pragma unroll
        for (int c = 0; c < 10; ++c) {
            const int at = 9 - c;
            const int column = partial.column[at];
            state.value[at] = double(partial.value[at]);
            if (0 <= column) {
                state.index[at] = first + column;
            }
            else {
                state.index[at] = state.index[column == no_column ? at : -1 -
                    column];
            }
        }
    }
}

// `from` covers later columns.
static __device__ __forceinline__ void
merge(const Constants& constants, const State& from, State& state) {
    #pragma unroll 1
    for (int c = 0; c < 10; ++c) {
        insert(state.value, state.index, from.value[c], from.index[c]);
    }
}

static __device__ __forceinline__ void
load_state(const double* place, long long stride, State& state) {
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        take(place + k * stride, state.value[k]);
    }
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        take(place + (k + 10) * stride, state.index[k]);
    }
}

static __device__ __forceinline__ void
store_state(double* place, long long stride, const State& state) {
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        put(place + k * stride, state.value[k]);
    }
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        put(place + (k + 10) * stride, state.index[k]);
    }
}

static __device__ __forceinline__ State
state_of_lane(const State& state, int apart) {
    State other;
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        other.value[k] = of_lane(state.value[k], apart);
    }
    #pragma unroll
    for (int k = 0; k < 10; ++k) {
        other.index[k] = of_lane(state.index[k], apart);
    }
    return other;
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    #pragma unroll
    for (int d = 0; d < 10; ++d) {
        write(call, out + d * call.out_component, state.index[d]);
    }
}

