// compiler/backends/cuda/device/value_tiles.cuh - how the values of a tile of
// columns are cut for tensor cores: into tiles of 16 columns and 8 components.

constexpr int value_tiles = (wide_components + 7) / 8;
constexpr int value_columns = 2 * value_tiles; // of a thread
constexpr int column_steps = tile_columns / 16;
