// compiler/backends/cpu/lower/bf16_operands.cpp - see bf16_operands.h.

#include "compiler/backends/cpu/lower/bf16_operands.h"

#include "compiler/ir/queries.h"

#include <tuple>

namespace tilefold {

namespace {

/// Returns the tiles of rows of a block, the last of which has rows that are
/// none.
std::int64_t tiles_of_rows(const Plan& plan) {
    const std::int64_t tile = plan.row_vectors * plan.lanes;
    return round_up(plan.row_block, tile) / tile;
}

std::int64_t words_of(std::int64_t components) {
    return round_up(components, numbers_of_word) / numbers_of_word;
}

} // namespace

std::map<ir::ValueId, SplitProduct>
place_splits(const ir::Graph& graph, const Plan& plan,
             const Contractions& contractions, Arena& arena) {
    std::map<ir::ValueId, SplitProduct> all;
    for (const auto& [id, way] : contractions.ways) {
        if (way != Contraction::SplitTiles)
            continue;
        SplitProduct& product = all[id];
        std::tie(product.row, product.column) =
            ir::rows_first(graph, graph[id]);
        product.components = graph[product.row].type.rows;
        product.words =
            round_up(words_of(product.components), most_block_depth);
        product.row_tile_bytes = splits_of_factor * product.words *
                                 plan.row_vectors * vector_bytes_of_bf16;
        product.column_split_bytes =
            whole_squares(plan.panel) * product.words * 4;
        product.rows = arena.take(tiles_of_rows(plan) * product.row_tile_bytes);
        product.columns =
            arena.take(splits_of_factor * product.column_split_bytes);
    }
    return all;
}

std::map<ir::ValueId, LayerProduct>
place_layers(const ir::Graph& graph, const Plan& plan,
             const Contractions& contractions, Arena& arena) {
    std::map<ir::ValueId, LayerProduct> all;
    for (const auto& [id, way] : contractions.ways) {
        if (way != Contraction::LayerTiles)
            continue;
        const ir::Node& node = graph[id];
        const std::size_t vector = ir::vector_operand(node.op);
        LayerProduct& product = all[id];
        product.vector = node.operands[vector];
        product.matrix = node.operands[1 - vector];
        product.is_transposed = vector == 0;
        product.rows = node.type.rows;
        product.terms = terms_of(graph, node);
        product.words = round_up(words_of(product.terms), contractions.depth);
        product.matrix_part_bytes =
            whole_squares(product.rows) * product.words * 4;
        const auto take = [&](std::int64_t bytes) {
            return arena.take(splits_of_factor * bytes, vector_bytes_of_bf16);
        };
        arena.align(vector_bytes_of_bf16);
        product.matrix_words = take(product.matrix_part_bytes);
        product.vector_words = take(product.words * plan.row_vectors *
                                    plan.columns * vector_bytes_of_bf16);
    }
    return all;
}

std::optional<Filter> place_filter(const ir::Graph& graph, const Plan& plan,
                                   const Contractions& contractions,
                                   Arena& arena) {
    Filter filter;
    filter.distance = contractions.filtered();
    if (filter.distance == ir::no_value)
        return std::nullopt;
    std::tie(filter.row, filter.column) =
        ir::rows_first(graph, graph[filter.distance]);
    filter.components = graph[filter.row].type.rows;
    filter.of_bf16 =
        contractions.is(filter.distance, Contraction::FilteredByWords);
    const std::int64_t words =
        filter.of_bf16 ? words_of(filter.components) : filter.components;
    filter.depth = filter.of_bf16 ? contractions.depth : 1;
    filter.steps = round_up(words, filter.depth) / filter.depth;
    const std::int64_t whole =
        filter.of_bf16 ? most_block_depth : std::int64_t(plan.lanes);
    const auto size = std::int64_t(size_of(graph.real)); // of a word, too
    filter.stride = round_up(words, whole) * size;
    filter.numbers =
        filter.stride / size * (filter.of_bf16 ? numbers_of_word : 1);
    filter.vector_bytes = plan.lanes * size;
    const std::int64_t tile = plan.row_vectors * filter.vector_bytes;
    const std::int64_t tiles = tiles_of_rows(plan);
    const std::int64_t columns = whole_squares(plan.panel);
    const auto take = [&](std::int64_t bytes) {
        return arena.take(bytes, vector_bytes_of_bf16);
    };
    filter.centre = take(filter.numbers * size);
    filter.row_words = take(tiles * filter.steps * filter.depth * tile);
    filter.row_parts = take(tiles * Filter::parts_of_row * tile);
    filter.column_words = take(columns * filter.stride);
    filter.column_squares = take(columns * size);
    filter.longest = take(size);
    if (filter.of_bf16) {
        filter.column_errors = take(columns * size);
        filter.products = take(whole_squares(plan.column_tile) * tile);
    }
    return filter;
}

} // namespace tilefold
