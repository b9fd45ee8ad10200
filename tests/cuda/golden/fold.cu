// fold_j(a_i b_j, [0, inf], add, join) with add(s, f) = [s[0] + f, min(s[1], f)], join(s, t) = [s[0] + t[0], min(s[1], t[1])]
// threads=64 rows_per_thread=8 tile_columns=128 columns_unrolled=1 width_block=1 resident=12 state_columns=24
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
    float concat_5[2];
};

struct Row {
    float a;
};

struct __align__(8) Column {
    float b;
};

struct Partial {
    float folded[2];
};

struct State {
    double folded[2];
};

static __device__ __forceinline__ void
compute_constants(const Call& call, const Place& place, double* constants) {
    for (int k = threadIdx.x; k < 2; k += threads) {
        const int left = min(k, 0);
        const int right = max(k - 1, 0);
        put_element(constants, k, float(k < 1 ? call.literals[0] :
            infinity<double>()));
    }
}

static __device__ __forceinline__ Constants
load_constants(const Call& call, const Place& place) {
    Constants constants;
    const double* from = call.constants + place.batch * call.constants_stride;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        constants.concat_5[k] = array_at<float>(from)[k];
    }
    return constants;
}

static __device__ __forceinline__ Row
load_row(const Call& call, const Constants& constants, const Place& place,
        long long i) {
    Row row;
    const char* a_at = point(call, place, 0, i);
    row.a = load_f32(a_at);
    return row;
}

static __device__ __forceinline__ Column
load_column(const Call& call, const Constants& constants, const Place& place,
        long long j) {
    Column column;
    const char* b_at = point(call, place, 1, j);
    column.b = load_f32(b_at);
    return column;
}

static __device__ __forceinline__ void
identity(const Constants& constants, State& state) {
    #pragma unroll
    for (int d = 0; d < 2; ++d) {
        state.folded[d] = double(constants.concat_5[d]);
    }
}

static __device__ __forceinline__ void
begin(const Constants& constants, const State& state, Partial& partial) {
    #pragma unroll
    for (int d = 0; d < 2; ++d) {
        partial.folded[d] = constants.concat_5[d];
    }
}

// One pair: column `k` of the tile.
static __device__ __forceinline__ void
add(const Constants& constants, const Row& row, const Column& column, int k,
        Partial& partial) {
    const float next = partial.folded[0] + row.a * column.b;
    const float next_2 = smaller(partial.folded[1], row.a * column.b);
    partial.folded[0] = next;
    partial.folded[1] = next_2;
}

// The tile's columns count from `first`.
static __device__ __forceinline__ void
fold(const Constants& constants, const Partial& partial, long long first,
        State& state) {
    const double next = state.folded[0] + double(partial.folded[0]);
    const double next_2 = smaller(state.folded[1], double(partial.folded[1]));
    state.folded[0] = next;
    state.folded[1] = next_2;
}

// `from` covers later columns.
static __device__ __forceinline__ void
merge(const Constants& constants, const State& from, State& state) {
    const double next = state.folded[0] + from.folded[0];
    const double next_2 = smaller(state.folded[1], from.folded[1]);
    state.folded[0] = next;
    state.folded[1] = next_2;
}

static __device__ __forceinline__ void
load_state(const double* place, long long stride, State& state) {
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        take(place + k * stride, state.folded[k]);
    }
}

static __device__ __forceinline__ void
store_state(double* place, long long stride, const State& state) {
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        put(place + k * stride, state.folded[k]);
    }
}

static __device__ __forceinline__ State
state_of_lane(const State& state, int apart) {
    State other;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        other.folded[k] = of_lane(state.folded[k], apart);
    }
    return other;
}

// Of point i, to row `number` of the results.
static __device__ __forceinline__ void
write_result(const Call& call, const Constants& constants, const Place& place,
        long long i, long long number, long long terms, const State& state) {
    char* out = place.out + number * call.out_row;
    #pragma unroll
    for (int d = 0; d < 2; ++d) {
        write(call, out + d * call.out_component, float(state.folded[d]));
    }
}

