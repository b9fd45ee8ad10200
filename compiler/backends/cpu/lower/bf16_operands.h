// compiler/backends/cpu/lower/bf16_operands.h - vectors that are kept beside
// themselves in another form: float32 as bf16 words for products by the matrix
// unit, and either as such words or centred for the filter of lists of the
// smallest.
#pragma once

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/cpu/lower/arena.h"

#include <map>
#include <optional>

namespace tilefold {

/// A word of 32 bits holds so many bf16.
inline constexpr std::int64_t numbers_of_word = 2;
/// Vectors of the instruction sets that have bf16 are so many bytes long.
inline constexpr std::int64_t vector_bytes_of_bf16 = 64;
/// A factor is split into so many bf16.
inline constexpr std::int64_t splits_of_factor = 2;

/// The factors of a product that are sums of bf16: words of all rows of a
/// block, tile by tile, and of the columns of a panel, split by split.
struct SplitProduct {
    ir::ValueId row = ir::no_value, column = ir::no_value;
    std::int64_t components = 0;
    std::int64_t words = 0;             ///< with zeros for whole tiles
    std::int64_t rows = 0, columns = 0; ///< offsets in scratch
    std::int64_t row_tile_bytes = 0;    ///< from tile to tile of rows
    std::int64_t column_split_bytes = 0;
};

/// A layer whose matrix and vectors of pairs are sums of bf16: words of the
/// rows of a matrix, part by part, and of a vector of each pair of a step.
struct LayerProduct {
    ir::ValueId matrix = ir::no_value, vector = ir::no_value;
    bool is_transposed = false; ///< a vector times a matrix
    std::int64_t rows = 0, terms = 0;
    std::int64_t words = 0; ///< of a row, with zeros for whole steps
    std::int64_t matrix_words = 0, vector_words = 0; ///< offsets in scratch
    std::int64_t matrix_part_bytes = 0;
};

/// What the filter keeps of rows and columns; offsets in scratch. A word is two
/// bf16, or a number of the computing dtype.
struct Filter {
    ir::ValueId distance = ir::no_value, row = ir::no_value,
                column = ir::no_value;
    bool of_bf16 = false;
    std::int64_t components = 0;
    std::int64_t depth = 0, steps = 0; ///< words of a step, and steps
    std::int64_t stride = 0;           ///< bytes of a column's words
    std::int64_t numbers = 0;          ///< of a column, with zeros behind
    std::int64_t vector_bytes = 0;
    /// Places of c, of the words of rows, and of their squares, errors and
    /// lengths.
    std::int64_t centre = 0, row_words = 0, row_parts = 0;
    /// Places of the words of columns, of (|y'|² - e²)/2 of each column (of
    /// float32, of -|y'|²/2), and of the longest y'.
    std::int64_t column_words = 0, column_squares = 0, longest = 0;
    /// Of bf16: places of e of each column, and of the products of a tile.
    std::int64_t column_errors = 0, products = 0;
    static constexpr std::int64_t parts_of_row = 3;
};

std::map<ir::ValueId, SplitProduct>
place_splits(const ir::Graph& graph, const Plan& plan,
             const Contractions& contractions, Arena& arena);
std::map<ir::ValueId, LayerProduct>
place_layers(const ir::Graph& graph, const Plan& plan,
             const Contractions& contractions, Arena& arena);
std::optional<Filter> place_filter(const ir::Graph& graph, const Plan& plan,
                                   const Contractions& contractions,
                                   Arena& arena);

} // namespace tilefold
