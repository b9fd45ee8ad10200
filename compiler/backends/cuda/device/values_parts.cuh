// compiler/backends/cuda/device/values_parts.cuh - the values of a tile of columns
// in shared memory, each the sum of `value_parts` bfloat16, or a half.
//
// A word has two columns of a component, and lies where the lane reads it that
// multiplies it with weights: the words of `together` tiles side by side. So
// that a thread may write them so, sums come in an order of their own: by blocks
// of 4 tiles (or 2, or 1, as `value_tiles` has it), of which lane 4 g + t holds
// number g of each tile, the component g * block + tile.

constexpr unsigned value_block = value_tiles % 4 == 0   ? 4
                                 : value_tiles % 2 == 0 ? 2
                                                        : 1;
constexpr int together = value_block < 2 ? 1 : 2;

struct __align__(16) ValueTile {
    unsigned at[value_parts][column_steps * value_tiles * 64];
};
struct __align__(8 * together) ValueWords {
    unsigned at[together][2];
};

/// The component of the thread's sum v.
static __device__ __forceinline__ int component_of_sum(int v) {
    const unsigned tile = unsigned(v) / 2, g = threadIdx.x % 4 * 2 + v % 2;
    return int((tile / value_block * 8 + g) * value_block + tile % value_block);
}

/// Returns the place of a lane's words of columns 16 step …, of `together`
/// tiles.
static __device__ __forceinline__ unsigned
value_place(unsigned step, unsigned tile, unsigned lane) {
    return ((step * (value_tiles / together) + tile / together) * 32 + lane) *
           (2 * together);
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

/// Puts components d … d + 3 of the columns 16 step + 2t, + 1, + 8 and + 9.
static __device__ __forceinline__ void
put_values(ValueTile& values, unsigned step, unsigned t, unsigned d,
           Four (&columns)[4]) {
#pragma unroll
    for (int q = 0; q < group; q += together) {
        const unsigned block = (d + q) / value_block;
        const unsigned tile =
            block / 8 * value_block + (d + q) % value_block;
        const unsigned place = value_place(step, tile, block % 8 * 4 + t);
#pragma unroll
        for (int p = 0; p < value_parts; ++p) {
            ValueWords words;
#pragma unroll
            for (int k = 0; k < together; ++k)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    float& lower = columns[2 * half].at[q + k];
                    float& upper = columns[2 * half + 1].at[q + k];
                    words.at[k][half] = next_part<halves>(lower, upper);
                }
            *reinterpret_cast<ValueWords*>(values.at[p] + place) = words;
        }
    }
}

/// Behind the last column stands that one, with weights of 0. Neighbouring
/// threads write neighbouring words.
static __device__ __forceinline__ void
bring_values(const Call& call, const Constants& constants, const Task& task,
             const ColumnAddress (&addresses)[tile_columns],
             ValueTile& values) {
    constexpr unsigned groups = value_tiles * 8 / group;
    constexpr unsigned brought = column_steps * 4 * groups;
    constexpr unsigned items = (brought + threads - 1) / threads;
#pragma unroll 1
    for (unsigned n = 0; n < items; ++n) {
        const unsigned at = threadIdx.x + n * threads;
        if (brought % threads != 0 && at >= brought)
            continue;
        const unsigned t = at % 4, d = at / 4 % groups * group;
        const unsigned step = at / 4 / groups;
        Four columns[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            columns[k] = value_of(
                call, constants, task,
                addresses[step * 16 + t * 2 + k % 2 + k / 2 * 8], int(d));
        put_values(values, step, t, d, columns);
    }
}

/// What the lane multiplies with weights of the columns 16 step …, of the tiles
/// tile … tile + together - 1.
static __device__ __forceinline__ void
read_values(const ValueTile& values, int part, unsigned step, unsigned tile,
            unsigned (&words)[together][2]) {
    const ValueWords read = *reinterpret_cast<const ValueWords*>(
        values.at[part] + value_place(step, tile, threadIdx.x % 32));
#pragma unroll
    for (int k = 0; k < together; ++k)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            words[k][half] = read.at[k][half];
}
