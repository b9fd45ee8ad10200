// compiler/backends/cpu/lower/document.cpp - a lowered kernel as JSON.

#include "compiler/backends/cpu/lower/lowered_kernel.h"

#include "compiler/ir/document.h"

#include <nlohmann/json.hpp>
#include <ranges>

namespace tilefold {
namespace {

using ir::ValueId;

Document document_of(const WidthOffset& place) {
    return {{"offset", place.offset}, {"per_width", place.per_width}};
}

/// The values of an axis as they lie in scratch.
Document document_of(const Operands& operands, const ir::Graph& graph,
                     const Contractions& contractions) {
    Document all = Document::array();
    const auto add = [&](std::span<const ValueId> values, bool is_computed) {
        for (const ValueId id : values) {
            const Operand& operand = operands.of.at(id);
            const Words* words = contractions.words_of(id);
            Document one = {
                {"value", id},
                {"dtype", spelling_of(operand.dtype)},
                {"components",
                 document_of_length(words ? words->packed()
                                          : components_of(graph[id].type))},
                {"order", spelling_of(operand.order)},
                {"place", document_of(operand.place)},
                {"computed", is_computed}};
            if (words)
                one["words_of"] = spelling_of(words->stored);
            all.push_back(std::move(one));
        }
    };
    add(operands.values.leaves, false);
    add(operands.values.computed, true);
    return all;
}

Document document_of(const KeptVectors& vectors) {
    Document all = Document::array();
    for (const auto& [id, vector] : vectors.of)
        all.push_back({{"value", id},
                       {"offset", vector.offset},
                       {"for_tile", vector.for_tile}});
    return all;
}

Document document_of(const Kept& kept) {
    Document all = Document::array();
    for (const auto& [id, offset] : kept.offsets)
        all.push_back({{"value", id}, {"offset", offset}});
    return all;
}

Document document_of(const Contractions& contractions, const ir::Graph& graph) {
    Document all = Document::array();
    for (const auto& [id, way] : contractions.ways)
        all.push_back({{"value", id},
                       {"op", ir::mnemonic(graph[id].op)},
                       {"way", spelling_of(way)}});
    return all;
}

Document document_of(const LoweredReduction& reduction) {
    Document fields = Document::array();
    for (const StateField& field : reduction.fields)
        fields.push_back(
            {{"name", field.name},
             {"dtype", spelling_of(field.dtype)},
             {"components", document_of_length(field.components)}});
    Document made = {{"value", reduction.id},
                     {"components", document_of_length(reduction.components)},
                     {"state", std::move(fields)},
                     {"partial", spelling_of(reduction.partial)},
                     {"in_memory", reduction.in_memory},
                     {"accumulators", reduction.accumulators},
                     {"by_column_tiles", reduction.by_column_tiles},
                     {"by_matrices", reduction.by_matrices},
                     {"list_vectors", reduction.list_vectors}};
    if (reduction.in_memory || reduction.list_vectors)
        made["memory"] = document_of(reduction.memory);
    return made;
}

Document document_of_points(const PointEntry& entry, const ir::Graph& graph,
                            const Contractions& contractions) {
    return {{"points_at_a_time", point_chunk},
            {"rows", document_of(entry.rows, graph, contractions)},
            {"columns", document_of(entry.columns, graph, contractions)},
            {"vectors", document_of(entry.vectors)}};
}

Document document_of_pairs(const LoweredKernel& kernel, const ir::Graph& graph,
                           const Plan& plan) {
    const Contractions& contractions = kernel.contractions;
    return {{"block_rows", plan.row_block},
            {"panel_columns", plan.panel},
            {"tile_rows", plan.row_vectors * plan.lanes},
            {"tile_columns", plan.columns},
            {"last_columns", kernel.last_columns},
            {"rows", document_of(kernel.rows, graph, contractions)},
            {"columns", document_of(kernel.columns, graph, contractions)},
            {"reads_in_place", kernel.reads_in_place},
            {"by_column_tiles", kernel.by_column_tiles},
            {"is_pipelined", kernel.is_pipelined},
            {"leaves_rare_out", kernel.leaves_rare_out},
            {"keeps",
             {{"slabs", document_of(kernel.kept.slabs)},
              {"tiles", document_of(kernel.kept.tiles)},
              {"scalars", document_of(kernel.kept.scalars)},
              {"vectors", document_of(kernel.kept.vectors)}}},
            {"filters", kernel.filter.has_value()}};
}

} // namespace

Document document_of(const LoweredKernel& kernel, const ir::Graph& graph,
                     const Plan& plan) {
    Document made;
    if (plan.nest == Nest::Values)
        made = {
            {"zip", document_of_points(kernel.zip, graph, kernel.contractions)},
            {"dense",
             document_of_points(kernel.dense, graph, kernel.contractions)}};
    else
        made = {{"pairs", document_of_pairs(kernel, graph, plan)}};
    made["contractions"] = document_of(kernel.contractions, graph);
    made["reductions"] = Document::array();
    for (const LoweredReduction& reduction : kernel.reductions)
        made["reductions"].push_back(document_of(reduction));
    const Watched& watched = kernel.placement.watched;
    made["watched"] = {{"products", watched.products},
                       {"sums", Document::array()}};
    for (const ValueId sum : std::views::keys(watched.sums))
        made["watched"]["sums"].push_back(sum);
    made["uses_matrix_unit"] = kernel.contractions.uses_matrix_unit;
    made["calls_sines"] = kernel.calls_sines;
    made["scratch"] = document_of(kernel.scratch);
    return made;
}

} // namespace tilefold
