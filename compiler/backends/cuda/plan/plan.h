// compiler/backends/cuda/plan/plan.h - how a graph becomes blocks of threads:
// plain data, printable.
//
// A block packs a tile of columns into shared memory; each of its threads
// holds a few rows in registers and meets all columns of the tile with them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tilefold::cuda {

/// How the products of pairs are computed; see multiply.def.
enum class Multiply : std::uint8_t {
#define MULTIPLY(name, ...) name,
#include "compiler/backends/cuda/plan/multiply.def"
#undef MULTIPLY
};
std::string_view spelling_of(Multiply multiply);
std::string_view doc_of(Multiply multiply);
/// Returns the error relative to |x| |y| of the vectors, beside float32's own
/// rounding.
double error_of(Multiply multiply);
/// The error of weights of one half. Weights of two halves are as exact as an
/// exponential.
inline constexpr double half_error = 5e-4;

/// What the threads of a block share among themselves.
enum class Lanes : std::uint8_t {
    Rows,    ///< each has rows of its own, and meets all columns of a tile
    Columns, ///< few rows, which all have: each meets different columns
    Points,  ///< of one axis, which are folded: there is one column
};
std::string_view spelling_of(Lanes lanes);

/// Returns a / b, rounded up.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// How many points a call has.
struct Points {
    std::int64_t rows = 1, columns = 1, batches = 1;
};

struct Plan {
    std::int32_t threads = 128; ///< of a block
    Lanes lanes = Lanes::Rows;
    std::int32_t rows_per_thread = 4; ///< held in registers
    /// So many columns are in shared memory at a time. With few rows, or with
    /// points, so many become a float32 sum before they are added in double.
    std::int32_t tile_columns = 128;
    std::int32_t columns_unrolled = 4; ///< iterations of the loop over them
    // Where nothing is reduced, a thread holds `columns_unrolled` columns in
    // registers instead, and meets `rows_per_thread` rows with them.
    /// A graph with an open width is compiled for so many components; a call
    /// of another width runs as several parts. It is 1 for any other graph.
    std::int32_t width_block = 1;
    Multiply multiply = Multiply::Alone;
    /// Tiles of pairs take so many components at a time.
    std::int32_t chunk = 16;
    /// A squared distance is |x|² + |y|² - 2 x·y, of coordinates that are
    /// centred at a block's first row; its error is relative to |x|² + |y|².
    bool expands = false;

    /// Sums of weighted vectors are products of matrices
    /// (sites/contractions.h), on tensor cores; weights and values are sums of
    /// so many bfloat16. 0: they are no such products.
    std::int32_t weight_parts = 0, value_parts = 0;
    /// Weights and values are sums of halves instead, in a softmax whose
    /// values are stored as halves.
    bool halves = false;
    /// Columns' factors and values are of 16 bits and multiplied as they are
    /// stored, so that they are copied while others are multiplied.
    bool copies = false;
    /// A warp multiplies so many tiles of 16 rows, on tensor cores.
    std::int32_t warp_tiles = 2;
    /// So many tiles have sums of float32, before they are added in double.
    std::int32_t tiles_held = 64;
    /// A block that meets pairs takes so much shared memory, or a little less.
    std::int32_t shared_bytes = 0;
    /// So many of these blocks are expected to be in a multiprocessor.
    std::int32_t resident = 8;
    /// Another state of a row takes as long as so many columns do.
    std::int32_t state_columns = 16;

    bool uses_value_matmul() const { return weight_parts > 0; }
    /// Whether warps compute tiles of pairs.
    bool is_tiled() const {
        return multiply != Multiply::Alone || uses_value_matmul();
    }
    std::int32_t block_rows() const {
        return lanes == Lanes::Columns  ? rows_per_thread
               : lanes == Lanes::Points ? tile_columns
               : uses_value_matmul()    ? threads / 2 * warp_tiles
                                        : threads * rows_per_thread;
    }

    friend bool operator==(const Plan&, const Plan&) = default;
};

/// A block has so much shared memory without asking for it.
inline constexpr std::int64_t common_shared = 48 * 1024;

/// The widths that graphs of open width are compiled for, ascending.
inline constexpr std::int32_t width_blocks[] = {1, 8, 32, 64, 128};
/// Returns the smallest of them that holds `width`, or the largest.
std::int32_t width_block_of(std::int64_t width);

/// Whether cards of compute capability `major`.x have tensor cores that
/// multiply bfloat16 and tf32, as those from 8.0 on have.
inline bool has_tensor_cores(int major) {
    return major >= 8;
}

std::string print(const Plan& plan); ///< one line of key=value
/// All fields.
nlohmann::ordered_json document_of(const Plan& plan);

} // namespace tilefold::cuda
