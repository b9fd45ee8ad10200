// compiler/backends/cuda/device/vectors.cuh - the vectors whose products a block
// of threads computes: left ones of its rows, right ones of a tile of columns,
// `chunk` components at a time.
//
// How a warp multiplies stands before this, in one of the files product_*.cuh:
// lane l holds `thread_rows` × `thread_columns` products, of rows warp_row(r)
// and columns tile_column(c); `row_lanes` lanes hold products of the same rows.
//
// A product that `expands` is |x|² + |y|² - 2 x·y of coordinates that are
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
    if (components % group == 0 && (components == depth || d < components))
        return load_four(d);
    Four four;
#pragma unroll
    for (int q = 0; q < group; ++q)
        four.at[q] = d + q < components ? load_one(d + q) : 0.0f;
    return four;
}

/// From the block's first row, or as it is.
static __device__ __forceinline__ Four centred(const Vectors& vectors,
                                               unsigned d, Four four) {
    if (expands) {
        const Four centre = vectors.centre[d / group];
#pragma unroll
        for (int q = 0; q < group; ++q)
            four.at[q] -= centre.at[q];
    }
    return four;
}

/// |·|² of four components, added.
static __device__ __forceinline__ float norm_of(const Four& four, float norm) {
#pragma unroll
    for (int q = 0; q < group; ++q)
        norm = fma(four.at[q], four.at[q], norm);
    return norm;
}
/// Returns the sum of what `lanes` neighbouring lanes hold, in each of them.
static __device__ __forceinline__ float sum_of_lanes(float x, unsigned lanes) {
#pragma unroll
    for (unsigned apart = 1; apart < lanes; apart *= 2)
        x += of_lane(x, int(apart));
    return x;
}

static __device__ __forceinline__ Four left_of(const Call& call,
                                               const Constants& constants,
                                               const Task& task, unsigned row,
                                               unsigned d) {
    const Place& place = task.place;
    const RowAddress address = row_address(
        call, place,
        row_number(call, min(first_row_of(task) + row, call.rows - 1)));
    return four_of(
        int(d),
        [&](int at) { return left_four(call, constants, place, address, at); },
        [&](int at) {
            return left_component(call, constants, place, address, at);
        });
}

/// Lanes that bring a chunk of a point, four components each.
constexpr unsigned chunk_groups = chunk / group;

/// All components of the block's rows: as columns' are brought, so that equal
/// points have equal norms.
static __device__ __forceinline__ void
bring_left(const Call& call, const Constants& constants, const Task& task,
           Vectors& vectors) {
    if (expands) {
#pragma unroll 1
        for (unsigned at = threadIdx.x; at < depth / group; at += threads)
            vectors.centre[at] =
                left_of(call, constants, task, 0, at * group);
        __syncthreads();
    }
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < block_rows * chunk_groups;
         at += threads) {
        const unsigned row = at / chunk_groups;
        float norm = 0.0f;
#pragma unroll 1
        for (unsigned d = at % chunk_groups * group; d < depth; d += chunk) {
            Four four = centred(vectors, d,
                                left_of(call, constants, task, row, d));
            if (expands) {
                norm = norm_of(four, norm);
#pragma unroll
                for (int q = 0; q < group; ++q)
                    four.at[q] *= -2.0f;
            }
            put_left(vectors.left, row, d, four);
        }
        if (expands) {
            const float whole = sum_of_lanes(norm, chunk_groups);
            if (at % chunk_groups == 0)
                vectors.left_norm[row] = whole;
        }
    }
}

/// What a thread brings of a chunk of a tile's columns: four components of so
/// many of them, always the same.
constexpr unsigned brought = tile_columns * chunk_groups;
constexpr unsigned right_items = (brought + threads - 1) / threads;

/// Components [from, from + chunk) of a tile's columns; `norm` is of those that
/// the thread has brought so far.
static __device__ __forceinline__ void
bring_right(const Call& call, const Constants& constants, const Task& task,
            const ColumnAddress (&addresses)[tile_columns], unsigned from,
            Vectors& vectors, float (&norm)[right_items]) {
#pragma unroll
    for (unsigned n = 0; n < right_items; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        if (brought % threads != 0 && at >= brought)
            continue;
        const unsigned column = at / chunk_groups;
        const unsigned first = at % chunk_groups * group;
        const ColumnAddress address = addresses[column];
        const Four four = centred(
            vectors, from + first,
            four_of(
                int(from + first),
                [&](int d) {
                    return right_four(call, constants, task.place, address, d);
                },
                [&](int d) {
                    return right_component(call, constants, task.place,
                                           address, d);
                }));
        if (expands)
            norm[n] = norm_of(four, norm[n]);
        put_right(vectors.right, column, first, four);
    }
}

static __device__ __forceinline__ void
put_right_norms(const float (&norm)[right_items], Vectors& vectors) {
#pragma unroll
    for (unsigned n = 0; n < right_items; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        const float whole = sum_of_lanes(norm[n], chunk_groups);
        if (at % chunk_groups == 0 && at < brought)
            vectors.right_norm[at / chunk_groups] = whole;
    }
}

/// Computes the products of the tile's columns. What the threads wrote to
/// shared memory before is there when they multiply.
static __device__ __forceinline__ void
multiply_tile(const Call& call, const Constants& constants, const Task& task,
              const ColumnAddress (&addresses)[tile_columns], Vectors& vectors,
              float (&product)[thread_rows][thread_columns]) {
#pragma unroll
    for (int r = 0; r < thread_rows; ++r)
#pragma unroll
        for (int c = 0; c < thread_columns; ++c)
            product[r][c] = expands ? vectors.left_norm[block_row(r)] : 0.0f;
    float norm[right_items] = {};
#pragma unroll 1
    for (unsigned from = 0; from < depth; from += chunk) {
        if (from)
            __syncthreads(); // the last chunk has been read
        bring_right(call, constants, task, addresses, from, vectors, norm);
        if (expands && from + chunk == depth)
            put_right_norms(norm, vectors);
        __syncthreads();
        multiply(vectors.left, vectors.right, from, product);
    }
}
