// compiler/backends/cuda/device/fragments.cuh - products of a warp, 16 or 32 rows
// and 64 columns, as tiles of 16 × 8, and the order in which factors lie in
// shared memory: that of the lanes that multiply them, so that a lane reads its
// words of a step side by side. A step is of 8 words of a point, `left_words`
// and `right_words` of which lie in shared memory: a component each, or two of
// 16 bits.

constexpr int thread_rows = 2 * warp_tiles, thread_columns = 16, row_lanes = 4;

static __device__ __forceinline__ int warp_row(int r) {
    return int(threadIdx.x) % 32 / 4 + 8 * r;
}
/// The row of the block that is the thread's own row r.
static __device__ __forceinline__ int block_row(int r) {
    return int(threadIdx.x) / 32 * 16 * warp_tiles + warp_row(r);
}
static __device__ __forceinline__ int tile_column(int c) {
    return c / 2 * 8 + int(threadIdx.x) % 4 * 2 + c % 2;
}

/// From a word of a point to the next.
constexpr unsigned left_apart = 2;

/// Returns the place of a lane's first word, in a step of 16 rows or of 8
/// columns. Places have no sign, so that dividing them by powers of two is a
/// shift.
static __device__ __forceinline__ unsigned
left_step(unsigned tile, unsigned step, unsigned lane) {
    return ((tile * (left_words / 8) + step) * 32 + lane) * 4;
}
static __device__ __forceinline__ unsigned
right_step(unsigned tile, unsigned step, unsigned lane) {
    return ((tile * (right_words / 8) + step) * 32 + lane) * 2;
}
/// Returns the place of a point's word. The terms of a sum come in any order,
/// so that a lane's two words of a point are neighbours: the 8 words of a step
/// lie side by side, those of the left at every second place.
static __device__ __forceinline__ unsigned left_place(unsigned row,
                                                      unsigned word) {
    return left_step(row / 16, word / 8, row % 8 * 4 + word % 8 / 2) +
           row / 8 % 2 + word % 2 * left_apart;
}
static __device__ __forceinline__ unsigned right_place(unsigned column,
                                                       unsigned word) {
    return right_step(column / 8, word / 8, column % 8 * 4 + word % 8 / 2) +
           word % 2;
}

struct __align__(16) FourWords {
    unsigned at[4];
};
struct __align__(8) TwoWords {
    unsigned at[2];
};

/// The two bfloat16 of a word.
static __device__ __forceinline__ float lower_bfloat(unsigned word) {
    return __uint_as_float(word << 16);
}
static __device__ __forceinline__ float upper_bfloat(unsigned word) {
    return __uint_as_float(word & 0xffff0000u);
}

/// The nearest two of 16 bits to a word, halves or bfloat16, and what is left.
template <int halves_not_bfloats>
static __device__ __forceinline__ unsigned next_part(float& lower,
                                                     float& upper) {
    const unsigned word = halves_not_bfloats ? ptx_two_f16(lower, upper)
                                             : ptx_two_bf16(lower, upper);
    lower -= halves_not_bfloats ? half_to_float((unsigned short)word)
                                : lower_bfloat(word);
    upper -= halves_not_bfloats ? half_to_float((unsigned short)(word >> 16))
                                : upper_bfloat(word);
    return word;
}
template <int halves_not_bfloats>
static __device__ __forceinline__ void
multiply_words(float& c0, float& c1, float& c2, float& c3,
               const unsigned (&a)[4], const unsigned (&b)[2]) {
    if (halves_not_bfloats)
        ptx_mma_f16(c0, c1, c2, c3, a, b);
    else
        ptx_mma_bf16(c0, c1, c2, c3, a, b);
}
