// softmax_j(q_i·k_j/√64, v_j)
// threads=128 rows_per_thread=1 tile_columns=32 columns_unrolled=2 width_block=8
constexpr int threads = 128;
constexpr int rows_per_thread = 1;
constexpr int tile_columns = 32;
constexpr int columns_unrolled = 2;
constexpr int block_rows = 128;
constexpr int folds_rows = 0;

struct Constants {
    float div_3;
};

struct Row {
    float q[64];
};

struct __align__(16) Column {
    float k[64];
    float v[8];
};

struct Partial {
    float maximum;
    float weight;
    float sum[8];
};

struct State {
    double maximum;
    double weight;
    double sum[8];
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
    if (threadIdx.x == 0) {
        put(constants, quotient(1.0, square_root(call.literals[0])));
    }
}

static __device__ __forceinline__ Constants
load_constants(const Call& call, const Place& place) {
    Constants constants;
    const double* from = call.constants + place.batch * call.constants_stride;
    take(from, constants.div_3);
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* q_at = point(call, place, 0, i);
    #pragma unroll
    for (int d = 0; d < 64; ++d) {
        row.q[d] = load_f16(q_at + d * call.operands[0].component);
    }
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* k_at = point(call, place, 1, j);
    const char* v_at = point(call, place, 2, j);
    #pragma unroll
    for (int d = 0; d < 64; ++d) {
        column.k[d] = load_f16(k_at + d * call.operands[1].component);
    }
    #pragma unroll
    for (int d = 0; d < 8; ++d) {
        column.v[d] = place.first_component + d < call.width ? load_f16(v_at +
            (place.first_component + d) * call.operands[2].component) : 0.0f;
    }
    return column;
}

static __device__ __forceinline__ void
identity(const Constants& constants, State& state) {
    state.maximum = -infinity<double>();
    state.weight = 0.0;
    #pragma unroll
    for (int c = 0; c < 8; ++c) {
        state.sum[c] = 0.0;
    }
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    partial.maximum = float(state.maximum);
    partial.weight = 0.0f;
    #pragma unroll
    for (int c = 0; c < 8; ++c) {
        partial.sum[c] = 0.0f;
    }
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ void
add(const Constants& constants, const Row& row, const Column& column, int k,
        Partial& partial) {
    float dot_6 = 0.0f;
    #pragma unroll
    for (int d = 0; d < 64; ++d) {
        dot_6 = fma(row.q[d], column.k[d], dot_6);
    }
    const float score = constants.div_3 * dot_6;
    if (!(score <= partial.maximum)) {
        const float shrink = relative_weight(partial.maximum, score);
        partial.maximum = larger(partial.maximum, score);
        partial.weight *= shrink;
        #pragma unroll
        for (int c = 0; c < 8; ++c) {
            partial.sum[c] *= shrink;
        }
    }
    const float weight = relative_weight(score, partial.maximum);
    partial.weight += weight;
    #pragma unroll
    for (int d = 0; d < 8; ++d) {
        partial.sum[d] += weight * column.v[d];
    }
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    const double running = double(partial.maximum);
    if (!(running <= state.maximum)) {
        const double shrink = relative_weight(state.maximum, running);
        state.weight *= shrink;
        #pragma unroll
        for (int c = 0; c < 8; ++c) {
            state.sum[c] *= shrink;
        }
        state.maximum = running;
    }
    state.weight += double(partial.weight);
    #pragma unroll
    for (int c = 0; c < 8; ++c) {
        state.sum[c] += double(partial.sum[c]);
    }
}

// `from` covers later columns.
static __device__ __forceinline__ void
merge(const Constants& constants, const State& from, State& state) {
    const double maximum = larger(state.maximum, from.maximum);
    const double share = relative_weight(from.maximum, maximum);
    const double shrink = relative_weight(state.maximum, maximum);
    state.weight *= shrink;
    #pragma unroll
    for (int c = 0; c < 8; ++c) {
        state.sum[c] *= shrink;
    }
    state.maximum = maximum;
    state.weight += share * from.weight;
    #pragma unroll
    for (int c = 0; c < 8; ++c) {
        state.sum[c] += share * from.sum[c];
    }
}

static __device__ __forceinline__ void
load_state(const double* place, long long stride, State& state) {
    take(place + 0 * stride, state.maximum);
    take(place + 1 * stride, state.weight);
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        take(place + (k + 2) * stride, state.sum[k]);
    }
}

static __device__ __forceinline__ void
store_state(double* place, long long stride, const State& state) {
    put(place + 0 * stride, state.maximum);
    put(place + 1 * stride, state.weight);
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        put(place + (k + 2) * stride, state.sum[k]);
    }
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    #pragma unroll
    for (int d = 0; d < 8; ++d) {
        if (place.first_component + d < call.width) {
            write(call, out + d * call.out_component, float(state.sum[d] /
                state.weight));
        }
    }
}

