// softmax_j(q_i·k_j/√64, v_j)
// threads=256 rows_per_thread=1 tile_columns=64 columns_unrolled=4 width_block=8 multiply=f16 chunk=64 expands=0 weight_parts=2 value_parts=1 warp_tiles=2 halves=1 copies=1 resident=1 state_columns=56
constexpr int threads = 256;
constexpr int rows_per_thread = 1;
constexpr int tile_columns = 64;
constexpr int columns_unrolled = 4;
constexpr int block_rows = 256;
constexpr int shared_bytes = 48032;
constexpr int folds_rows = 0;
constexpr int folds_blocks = 0;
constexpr int shares_rows = 0;
constexpr int chooses = 0;
constexpr int states_ahead = 1;
constexpr int components = 64;
constexpr int depth = 64;
constexpr int chunk = 64;
constexpr int squares = 0;
constexpr int expands = 0;
constexpr int clamps = 0;
constexpr int terms = 1;
constexpr int is_f16 = 1;
constexpr int wide_components = 8;
constexpr int weight_parts = 2;
constexpr int value_parts = 1;
constexpr int tiles_held = 64;
constexpr int is_softmax = 1;
constexpr int halves = 1;
constexpr int first_sum = 2;
constexpr int warp_tiles = 2;
constexpr int left_words = 32;
constexpr int right_words = 32;

struct Constants {
    float div_3;
};

struct Row {
};

struct __align__(8) Column {
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
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    return column;
}

struct ColumnAddress {
    const char* k;
    const char* v;
};

static __device__ __forceinline__ ColumnAddress
column_address(const Call& call, const Place& place, long long j) {
    ColumnAddress address;
    const char* k_at = point(call, place, 1, j);
    const char* v_at = point(call, place, 2, j) + place.first_component *
        call.operands[2].component;
    address.k = k_at;
    address.v = v_at;
    return address;
}

struct RowAddress {
    const char* q;
};

static __device__ __forceinline__ RowAddress
row_address(const Call& call, const Place& place, long long i) {
    RowAddress address;
    const char* q_at = point(call, place, 0, i);
    address.q = q_at;
    return address;
}

static __device__ __forceinline__ float
left_component(const Call& call, const Constants& constants,
        const Place& place, const RowAddress& address, int d) {
    return load_f16(address.q + d * call.operands[0].component);
}

static __device__ __forceinline__ Four
left_four(const Call& call, const Constants& constants, const Place& place,
        const RowAddress& address, int d) {
    return load_four_f16(address.q + d * call.operands[0].component,
        call.operands[0].component);
}

static __device__ __forceinline__ float
right_component(const Call& call, const Constants& constants,
        const Place& place, const ColumnAddress& address, int d) {
    return load_f16(address.k + d * call.operands[1].component);
}

static __device__ __forceinline__ Four
right_four(const Call& call, const Constants& constants, const Place& place,
        const ColumnAddress& address, int d) {
    return load_four_f16(address.k + d * call.operands[1].component,
        call.operands[1].component);
}

static __device__ __forceinline__ float
value_component(const Call& call, const Constants& constants,
        const Place& place, const ColumnAddress& address, int d) {
    return d < place.components ? load_f16(address.v + d *
        call.operands[2].component) : 0.0f;
}

static __device__ __forceinline__ Four
value_four(const Call& call, const Constants& constants, const Place& place,
        const ColumnAddress& address, int d) {
    if (d + 3 < place.components) {
        return load_four_f16(address.v + d * call.operands[2].component,
            call.operands[2].component);
    }
    Four four;
    #pragma unroll
    for (int q = 0; q < 4; ++q) {
        four.at[q] = value_component(call, constants, place, address, d + q);
    }
    return four;
}

static __device__ __forceinline__ Stored
right_stored(const Call& call, const Place& place,
        const ColumnAddress& address) {
    return {address.k, call.operands[1].component, 64};
}

static __device__ __forceinline__ Stored
value_stored(const Call& call, const Place& place,
        const ColumnAddress& address) {
    return {address.v, call.operands[2].component, place.components};
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ float
pair_weight(const Constants& constants, const Row& row, const Column& column,
        int k, float product) {
    return constants.div_3 * product;
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

static __device__ __forceinline__ State
state_of_lane(const State& state, int apart) {
    State other;
    other.maximum = of_lane(state.maximum, apart);
    other.weight = of_lane(state.weight, apart);
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        other.sum[k] = of_lane(state.sum[k], apart);
    }
    return other;
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    const double inverse = 1.0 / state.weight;
    #pragma unroll
    for (int d = 0; d < 8; ++d) {
        if (d < place.components) {
            write(call, out + d * call.out_component, float(state.sum[d] *
                inverse));
        }
    }
}

