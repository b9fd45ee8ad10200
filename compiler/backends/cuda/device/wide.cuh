// compiler/backends/cuda/device/wide.cuh - a sum of vectors with one weight a pair,
// or a softmax of such: the matrix of weights times the matrix of values, on
// tensor cores. What a thread keeps, and what it does with a tile.
//
// Weights lie in the registers of the lanes that multiply them. A weight is the
// sum of `weight_parts` bfloat16, a value that of `value_parts`, or both are so
// of halves; of the parts' products those are added whose size is at least that
// of the smallest parts. Dao: FlashAttention-2 (2023).

constexpr int smallest_part =
    (value_parts > weight_parts ? value_parts : weight_parts) - 1;

/// sum += weight * value
static __device__ __forceinline__ void
add_values(const float (&weight)[thread_rows][thread_columns],
           const ValueTile& values, float (&sum)[thread_rows][value_columns]) {
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
                for (int p = 0; p < weight_parts; ++p)
                    x[p][m].at[q] = next_part<halves>(lower, upper);
            }
#pragma unroll
        for (int n = 0; n < value_tiles; n += together)
#pragma unroll
            for (int p = value_parts - 1; p >= 0; --p) {
                unsigned y[together][2];
                read_values(values, p, s, n, y);
#pragma unroll
                for (int k = 0; k < together && n + k < value_tiles; ++k)
#pragma unroll
                    for (int w = weight_parts - 1; w >= 0; --w)
#pragma unroll
                        for (int m = 0; m < warp_tiles; ++m)
                            if (p + w <= smallest_part)
                                multiply_words<halves>(
                                    sum[2 * m][2 * (n + k)],
                                    sum[2 * m][2 * (n + k) + 1],
                                    sum[2 * m + 1][2 * (n + k)],
                                    sum[2 * m + 1][2 * (n + k) + 1],
                                    x[w][m].at, y[k]);
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

/// The exponent of the largest weight. Halves of at most 2^15 have all bits
/// down to 2^-29 of the largest, and some down to 2^-39. Sums are as much
/// larger.
constexpr float weight_exponent = halves ? 15.0f : 0.0f;

/// The largest scores of the rows so far; their sums are relative to them then.
// Loops over rows are inside those over columns, here and below: what is done
// for one row hides the latency of another.
static __device__ __forceinline__ void
raise_maxima(const float (&score)[thread_rows][thread_columns], Rows& rows) {
    float maximum[thread_rows];
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
        maximum[r] = rows.maximum[r];
#pragma unroll
    for (int c = 0; c < thread_columns; ++c)
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            maximum[r] = larger(maximum[r], score[r][c]);
#pragma unroll
    for (int apart = 1; apart < row_lanes; apart *= 2)
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            maximum[r] = larger(maximum[r], of_lane(maximum[r], apart));
    float shrink[thread_rows];
    bool shrinks = false;
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        shrink[r] = relative_weight(rows.maximum[r], maximum[r]);
        shrinks |= shrink[r] != 1.0f;
        rows.maximum[r] = maximum[r];
    }
    if (!shrinks)
        return;
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        rows.weight[r] *= double(shrink[r]);
#pragma unroll
        for (int v = 0; v < value_columns; ++v)
            rows.sum[r][v] *= shrink[r];
    }
}

static __device__ __forceinline__ bool is_finite(float x) {
    return x < infinity<float>() && x > -infinity<float>();
}
/// The weight of a score where the maximum is finite.
static __device__ __forceinline__ float weight_below(float maximum,
                                                     float score) {
    return power_of_two(fma(1.44269504f, score - maximum, weight_exponent));
}

/// Scores to weights, relative to the largest scores so far.
static __device__ __forceinline__ void
weigh_rows(float (&score)[thread_rows][thread_columns], Rows& rows) {
    raise_maxima(score, rows);
    bool are_finite = true;
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
        are_finite &= is_finite(rows.maximum[r]);
    if (are_finite) {
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
                score[r][c] = weight_below(rows.maximum[r], score[r][c]);
    } else {
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
                score[r][c] =
                    is_finite(rows.maximum[r])
                        ? weight_below(rows.maximum[r], score[r][c])
                        : relative_weight(score[r][c], rows.maximum[r]) *
                              power_of_two(weight_exponent);
    }
    float total[thread_rows] = {};
#pragma unroll
    for (int c = 0; c < thread_columns; ++c)
#pragma unroll
        for (int r = 0; r < thread_rows; ++r)
            total[r] += score[r][c];
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
        rows.weight[r] += double(total[r]);
}

/// Adds the sums to those in memory.
static __device__ __forceinline__ void
hold_sums(const Call& call, const Task& task, Rows& rows) {
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
        const long long at = first_row_of(task) + block_row(r);
        const double shrink =
            is_softmax ? relative_weight(double(rows.held[r]),
                                         double(rows.maximum[r]))
                       : 1.0;
        double* place = state_of(call, task, at);
        if (at < call.rows)
#pragma unroll
            for (int v = 0; v < value_columns; ++v) {
                const int d = component_of_sum(v);
                if (wide_components % 8 != 0 && d >= wide_components)
                    continue;
                double* slot = place + (first_sum + d) * call.states;
                double held = 0.0;
                if (rows.any)
                    held = *slot;
                *slot = fma(held, shrink, double(rows.sum[r][v]));
            }
#pragma unroll
        for (int v = 0; v < value_columns; ++v)
            rows.sum[r][v] = 0.0f;
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
        const long long at = first_row_of(task) + block_row(r);
        double* place = state_of(call, task, at);
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

/// Products of a tile of `count` columns to its weights.
static __device__ __forceinline__ void
weigh_tile(const Constants& constants, const Row (&row)[thread_rows],
           const Column (&tile)[tile_columns], const Vectors& vectors,
           int count, float (&score)[thread_rows][thread_columns],
           Rows& rows) {
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
        weigh_rows(score, rows);
}
