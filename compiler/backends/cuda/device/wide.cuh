// compiler/backends/cuda/device/wide.cuh - the loops of a sum of vectors with
// one weight a pair, or of a softmax: the matrix of weights times the matrix of
// values, on tensor cores.
//
//   task                                             a block of threads
//     tile of columns: values into shared memory
//       scores of 16 or 32 rows and all columns        a warp
//       softmax: the rows' maxima, and weights relative to them
//       weights times values, added to sums in registers
//     sums to memory, every `tiles_held` tiles, in double
//
// Weights lie in the registers of the lanes that multiply them. A weight is the
// sum of `weight_parts` bfloat16, a value that of `value_parts`; of the parts'
// products those are added whose size is at least that of the smallest parts.
// Dao: FlashAttention-2 (2023).

constexpr int value_tiles = (wide_components + 7) / 8;
constexpr int value_columns = 2 * value_tiles; // of a thread
constexpr int column_steps = tile_columns / 16;
constexpr int smallest_part =
    (value_parts > weight_parts ? value_parts : weight_parts) - 1;

/// Two columns to a word, in the order of the lanes that multiply them.
struct __align__(16) ValueTile {
    unsigned at[value_parts][column_steps * value_tiles * 64];
};

static __device__ __forceinline__ float lower_bfloat(unsigned word) {
    return __uint_as_float(word << 16);
}
static __device__ __forceinline__ float upper_bfloat(unsigned word) {
    return __uint_as_float(word & 0xffff0000u);
}

/// Components d … d + 3 of a column, 0 beyond the last.
static __device__ __forceinline__ Four
value_of(const Call& call, const Constants& constants, const Task& task,
         const ColumnAddress& address, int d) {
    if (wide_components % group == 0 &&
        (wide_components % 8 == 0 || d < wide_components))
        return value_four(call, constants, task.place, address, d);
    Four four;
#pragma unroll
    for (int q = 0; q < group; ++q)
        four.at[q] =
            d + q < wide_components
                ? value_component(call, constants, task.place, address, d + q)
                : 0.0f;
    return four;
}

/// Behind the last column stands that one, with weights of 0.
static __device__ __forceinline__ void
bring_values(const Call& call, const Constants& constants, const Task& task,
             const ColumnAddress (&addresses)[tile_columns],
             ValueTile& values) {
    constexpr unsigned groups = value_tiles * 8 / group;
    constexpr unsigned brought = tile_columns / 2 * groups;
    constexpr unsigned items = (brought + threads - 1) / threads;
#pragma unroll 1
    for (unsigned n = 0; n < items; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        if (brought % threads != 0 && at >= brought)
            continue;
        const unsigned column = at / groups * 2, d = at % groups * group;
        Four lower =
            value_of(call, constants, task, addresses[column], int(d));
        Four upper =
            value_of(call, constants, task, addresses[column + 1], int(d));
        const unsigned lane = d % 8 * 4 + column % 8 / 2;
        const unsigned place =
            ((column / 16 * value_tiles + d / 8) * 32 + lane) * 2 +
            column / 8 % 2;
#pragma unroll
        for (int q = 0; q < group; ++q)
#pragma unroll
            for (int p = 0; p < value_parts; ++p) {
                const unsigned word = ptx_two_bf16(lower.at[q], upper.at[q]);
                values.at[p][place + 8 * q] = word;
                lower.at[q] -= lower_bfloat(word);
                upper.at[q] -= upper_bfloat(word);
            }
    }
}

/// sum += weight * value
static __device__ __forceinline__ void
add_values(const float (&weight)[thread_rows][thread_columns],
           const ValueTile& values, float (&sum)[thread_rows][value_columns]) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int s = 0; s < column_steps; ++s) {
        FourWords x[weight_parts][warp_tiles];
#pragma unroll
        for (int m = 0; m < warp_tiles; ++m)
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const int r = 2 * m + q % 2, c = 4 * s + q / 2 * 2;
                float lower = weight[r][c], upper = weight[r][c + 1];
#pragma unroll
                for (int p = 0; p < weight_parts; ++p) {
                    const unsigned word = ptx_two_bf16(lower, upper);
                    x[p][m].at[q] = word;
                    lower -= lower_bfloat(word);
                    upper -= upper_bfloat(word);
                }
            }
#pragma unroll
        for (int n = 0; n < value_tiles; ++n)
#pragma unroll
            for (int p = value_parts - 1; p >= 0; --p) {
                const TwoWords y = *reinterpret_cast<const TwoWords*>(
                    values.at[p] + ((s * value_tiles + n) * 32 + lane) * 2);
#pragma unroll
                for (int w = weight_parts - 1; w >= 0; --w)
#pragma unroll
                    for (int m = 0; m < warp_tiles; ++m)
                        if (p + w <= smallest_part)
                            ptx_mma_bf16(sum[2 * m][2 * n],
                                         sum[2 * m][2 * n + 1],
                                         sum[2 * m + 1][2 * n],
                                         sum[2 * m + 1][2 * n + 1],
                                         x[w][m].at, y.at);
            }
    }
}

/// What a thread keeps of its rows.
struct Rows {
    float sum[thread_rows][value_columns];
    float maximum[thread_rows];
    float held[thread_rows]; // the maximum of the sums in memory
    double weight[thread_rows];
    bool any;                // whether there are sums in memory
};

static __device__ __forceinline__ void begin_rows(Rows& rows) {
    rows.any = false;
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        rows.maximum[r] = -infinity<float>();
        rows.held[r] = -infinity<float>();
        rows.weight[r] = 0.0;
#pragma unroll
        for (int v = 0; v < value_columns; ++v)
            rows.sum[r][v] = 0.0f;
    }
}

/// Scores to weights, relative to the largest score so far.
static __device__ __forceinline__ void
weigh_row(float (&score)[thread_columns], int r, Rows& rows) {
    float maximum = rows.maximum[r];
#pragma unroll
    for (int c = 0; c < thread_columns; ++c)
        maximum = larger(maximum, score[c]);
#pragma unroll
    for (int apart = 1; apart < row_lanes; apart *= 2)
        maximum = larger(maximum, of_lane(maximum, apart));
    const float shrink = relative_weight(rows.maximum[r], maximum);
    if (shrink != 1.0f) {
        rows.weight[r] *= double(shrink);
#pragma unroll
        for (int v = 0; v < value_columns; ++v)
            rows.sum[r][v] *= shrink;
    }
    rows.maximum[r] = maximum;
    float total = 0.0f;
    if (maximum < infinity<float>() && maximum > -infinity<float>()) {
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
            score[c] = power_of_two(1.44269504f * (score[c] - maximum));
    } else {
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
            score[c] = relative_weight(score[c], maximum);
    }
#pragma unroll
    for (int c = 0; c < thread_columns; ++c)
        total += score[c];
    rows.weight[r] += double(total);
}

/// Adds the sums to those in memory.
static __device__ __forceinline__ void
hold_sums(const Call& call, const Task& task, Rows& rows) {
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        const long long at = task.first_row + block_row(r);
        const double shrink =
            is_softmax ? relative_weight(double(rows.held[r]),
                                         double(rows.maximum[r]))
                       : 1.0;
        double* place = call.state + task.first_state + at * call.segments;
#pragma unroll
        for (int v = 0; v < value_columns; ++v) {
            const int d = v / 2 * 8 + int(threadIdx.x) % 4 * 2 + v % 2;
            double* slot = place + (first_sum + d) * call.states;
            if (at < call.rows && d < wide_components)
                *slot = (rows.any ? *slot * shrink : 0.0) +
                        double(rows.sum[r][v]);
            rows.sum[r][v] = 0.0f;
        }
        rows.held[r] = rows.maximum[r];
    }
    rows.any = true;
}

/// The maximum and the sum of weights, by one of a row's lanes.
static __device__ __forceinline__ void
store_weights(const Call& call, const Task& task, const Rows& rows) {
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        double weight = rows.weight[r];
#pragma unroll
        for (int apart = 1; apart < row_lanes; apart *= 2)
            weight += of_lane(weight, apart);
        const long long at = task.first_row + block_row(r);
        double* place = call.state + task.first_state + at * call.segments;
        if (at < call.rows && threadIdx.x % row_lanes == 0) {
            place[0] = double(rows.maximum[r]);
            place[call.states] = weight;
        }
    }
}

/// The pairs of columns that are not there.
static __device__ __forceinline__ void
leave_out(int count, float (&score)[thread_rows][thread_columns]) {
#pragma unroll
    for (int c = 0; c < thread_columns; ++c)
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            if (tile_column(c) >= count)
                score[r][c] = is_softmax ? -infinity<float>() : 0.0f;
}

/// A tile of `count` columns.
static __device__ __forceinline__ void
add_tile(const Call& call, const Constants& constants, const Task& task,
         long long first, int count, const Row (&row)[thread_rows],
         Vectors& vectors, ValueTile& values,
         ColumnAddress (&addresses)[tile_columns], Column (&tile)[tile_columns],
         Rows& rows) {
    find_columns(call, constants, task, first, count, addresses, tile);
    bring_values(call, constants, task, addresses, values);
    float score[thread_rows][thread_columns];
    multiply_tile(call, constants, task, addresses, vectors, score);
#pragma unroll
    for (int c = 0; c < thread_columns; ++c) {
        const int k = tile_column(c);
        const Column column = tile[min(k, count - 1)];
#pragma unroll
        for (int r = 0; r < thread_rows; ++r) {
            score[r][c] = pair_weight(constants, row[r], column, k,
                                      finished(score[r][c], vectors, k));
        }
    }
    if (count < tile_columns)
        leave_out(count, score);
    if (is_softmax)
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            weigh_row(score[r], r, rows);
    add_values(score, values, rows.sum);
}

struct Shared {
    Vectors vectors;
    ValueTile values;
    ColumnAddress addresses[tile_columns];
    Column tile[tile_columns];
    Task task;
};
static_assert(sizeof(Shared) <= shared_bytes, "");

extern "C" __global__ void __launch_bounds__(threads)
accumulate(const __grid_constant__ Call call) {
    DYNAMIC_SHARED(Shared, shared);
    auto& [vectors, values, addresses, tile, task] = shared;
    const long long tasks = count_tasks(call);
    for (long long number = blockIdx.x; number < tasks; number += gridDim.x) {
        __syncthreads(); // the last task is done
        if (threadIdx.x == 0)
            task = find_task(call, number);
        __syncthreads();
        const Constants constants = load_constants(call, task.place);
        bring_left(call, constants, task, vectors);
        Row row[thread_rows];
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            row[r] = load_row(
                call, constants, task.place,
                row_number(call, min(task.first_row + block_row(r),
                                     call.rows - 1)));
        Rows rows;
        begin_rows(rows);
        int tiles = 0;
        long long first = task.first_column;
        do {
            const int count =
                int(min(task.last_column - first, (long long)tile_columns));
            if (count > 0)
                add_tile(call, constants, task, first, count, row, vectors,
                         values, addresses, tile, rows);
            first += tile_columns;
            if (++tiles % tiles_held == 0 || first >= task.last_column)
                hold_sums(call, task, rows);
        } while (first < task.last_column);
        if (is_softmax)
            store_weights(call, task, rows);
    }
}
