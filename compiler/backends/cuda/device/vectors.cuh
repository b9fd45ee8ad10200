// compiler/backends/cuda/device/vectors.cuh - the vectors whose products a block
// of threads computes: left ones of its rows, right ones of a tile of columns,
// `chunk` components at a time.
//
// How a warp multiplies stands before this, in one of the files product_*.cuh:
// lane l holds `thread_rows` × `thread_columns` products, of rows warp_row(r)
// and columns tile_column(c); `row_lanes` lanes hold products of the same rows.
//
// Where `expands`, the product is |x|² + |y|² - 2 x·y of coordinates that are
// centred at the block's first row: it is within error * (|x|² + |y|²) then.

constexpr int norms = expands ? 1 : 0;

struct Vectors {
    Left left;
    Right right;
    Four centre[norms * depth / group + 1];
    float left_norm[norms * block_rows + 1];
    float right_norm[norms * tile_columns + 1];
};

/// The product of column k of the tile.
static __device__ __forceinline__ float finished(float product,
                                                 const Vectors& vectors,
                                                 int k) {
    if (!expands)
        return product;
    const float sum = product + vectors.right_norm[k];
    return clamps ? larger(sum, 0.0f) : sum;
}

/// Components d … d + 3 of a row or column, 0 beyond the last; `four` and
/// `component` load them.
template <class LoadFour, class LoadOne>
static __device__ __forceinline__ Four
four_of(int d, const LoadFour& load_four, const LoadOne& load_one) {
    if (components % group == 0 && d < components)
        return load_four();
    Four four;
#pragma unroll
    for (int q = 0; q < group; ++q)
        four.at[q] = d + q < components ? load_one(q) : 0.0f;
    return four;
}

/// From the block's first row, or as it is.
static __device__ __forceinline__ Four centred(const Vectors& vectors, int d,
                                               Four four) {
    if (expands) {
        const Four centre = vectors.centre[d / group];
#pragma unroll
        for (int q = 0; q < group; ++q)
            four.at[q] -= centre.at[q];
    }
    return four;
}

/// |·|² of the components that `lanes` neighbouring lanes hold, in each.
static __device__ __forceinline__ float norm_of(const Four& four, int lanes) {
    float norm = 0.0f;
#pragma unroll
    for (int q = 0; q < group; ++q)
        norm = fma(four.at[q], four.at[q], norm);
#pragma unroll
    for (int apart = 1; apart < lanes; apart *= 2)
        norm += of_lane(norm, apart);
    return norm;
}

static __device__ __forceinline__ Four left_of(const Call& call,
                                               const Constants& constants,
                                               const Task& task, int row,
                                               int d) {
    const long long i =
        row_number(call, min(task.first_row + row, call.rows - 1));
    return four_of(
        d, [&] { return left_four(call, constants, task.place, i, d); },
        [&](int q) {
            return left_component(call, constants, task.place, i, d + q);
        });
}

/// All components of the block's rows: `chunk` of them after each other, so
/// that a row's norm grows as a column's does.
static __device__ __forceinline__ void
bring_left(const Call& call, const Constants& constants, const Task& task,
           Vectors& vectors) {
    constexpr int groups = chunk / group;
    if (expands) {
#pragma unroll 1
        for (int at = threadIdx.x; at < depth / group; at += threads)
            vectors.centre[at] =
                left_of(call, constants, task, 0, at * group);
        __syncthreads();
    }
#pragma unroll 1
    for (int from = 0; from < depth; from += chunk)
#pragma unroll 1
        for (int at = threadIdx.x; at < block_rows * groups; at += threads) {
            const int row = at / groups, d = from + at % groups * group;
            Four four = centred(vectors, d,
                                left_of(call, constants, task, row, d));
            if (expands) {
                const float norm = norm_of(four, groups);
                if (d == from)
                    vectors.left_norm[row] =
                        from ? vectors.left_norm[row] + norm : norm;
#pragma unroll
                for (int q = 0; q < group; ++q)
                    four.at[q] *= -2.0f;
            }
            put_left(vectors.left, row, d, four);
        }
}

/// Components [from, from + chunk) of the columns [first, first + count).
static __device__ __forceinline__ void
bring_right(const Call& call, const Constants& constants, const Task& task,
            long long first, int count, int from, Vectors& vectors) {
    constexpr int groups = chunk / group;
#pragma unroll 2
    for (int at = threadIdx.x; at < tile_columns * groups; at += threads) {
        const int column = at / groups, d = from + at % groups * group;
        const long long j =
            column_number(call, first + min(column, count - 1));
        const Four four = centred(
            vectors, d,
            four_of(
                d,
                [&] {
                    return right_four(call, constants, task.place, j, d);
                },
                [&](int q) {
                    return right_component(call, constants, task.place, j,
                                           d + q);
                }));
        if (expands) {
            const float norm = norm_of(four, groups);
            if (d == from)
                vectors.right_norm[column] =
                    from ? vectors.right_norm[column] + norm : norm;
        }
        put_right(vectors.right, column, d - from, four);
    }
}

/// Of the columns [first, first + count). What the threads wrote to shared
/// memory before is there when they multiply.
static __device__ __forceinline__ void
multiply_tile(const Call& call, const Constants& constants, const Task& task,
              long long first, int count, Vectors& vectors,
              float (&product)[thread_rows][thread_columns]) {
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
            product[r][c] = expands ? vectors.left_norm[block_row(r)] : 0.0f;
#pragma unroll 1
    for (int from = 0; from < depth; from += chunk) {
        if (from)
            __syncthreads(); // the last chunk has been read
        bring_right(call, constants, task, first, count, from, vectors);
        __syncthreads();
        multiply(vectors.left, vectors.right, from, product);
    }
}
