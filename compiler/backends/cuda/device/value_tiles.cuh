// compiler/backends/cuda/device/value_tiles.cuh - how the values of a tile of
// columns are cut for tensor cores: into tiles of 16 columns and 8 components.

constexpr int value_tiles = (wide_components + 7) / 8;
constexpr int value_columns = 2 * value_tiles; // of a thread
constexpr int column_steps = tile_columns / 16;

/// The nearest two to a word, and what is left of them.
static __device__ __forceinline__ unsigned next_part(float& lower,
                                                     float& upper) {
    const unsigned word =
        halves ? ptx_two_f16(lower, upper) : ptx_two_bf16(lower, upper);
    lower -= halves ? half_to_float((unsigned short)word) : lower_bfloat(word);
    upper -= halves ? half_to_float((unsigned short)(word >> 16))
                    : upper_bfloat(word);
    return word;
}
