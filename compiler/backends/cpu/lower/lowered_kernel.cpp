// compiler/backends/cpu/lower/lowered_kernel.cpp - see lowered_kernel.h.

#include "compiler/backends/cpu/lower/lowered_kernel.h"

#include "compiler/backends/cpu/lower/rare_ways.h"
#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

/// Returns the bytes that stages may read before and after packed columns, and
/// before and after the vectors of pairs that are kept.
std::int64_t read_ahead(const LoweredKernel& kernel) {
    return most_run_ahead * std::max<std::int64_t>(16 * 8, kernel.vector_bytes);
}

/// Returns what the reductions that take tiles of columns read.
std::vector<ValueId> bodies_of(const Graph& graph,
                               const std::vector<LoweredReduction>& all) {
    std::vector<ValueId> bodies;
    for (const LoweredReduction& reduction : all)
        if (reduction.by_column_tiles)
            for (ValueId operand : graph[reduction.id].inputs())
                bodies.push_back(operand);
    return bodies;
}

/// Whether columns are few arrays of the computing dtype, which need not be
/// packed.
bool reads_in_place(const Graph& graph, const Plan& plan,
                    const LoweredKernel& kernel) {
    const auto is_plain = [&](ValueId id) {
        const Node& node = graph[id];
        return node.op == Op::Argument &&
               graph.arguments[std::size_t(node.first)].dtype ==
                   node.type.dtype &&
               kernel.packed[id] == node.type.dtype &&
               node.type.dtype != DType::Bool &&
               components_of(node.type) <= plan.unroll;
    };
    const Packed& columns = kernel.placement.columns;
    return plan.nest == Nest::SinglePanel && columns.computed.empty() &&
           std::ranges::all_of(columns.leaves, is_plain);
}

void place_results(const Graph& graph, std::int64_t capacity,
                   std::int64_t& offset, Arena& arena) {
    const Type& type = graph[graph.result].type;
    offset = arena.end().offset;
    if (type.rows == dynamic)
        arena.take_per_width(capacity * 8);
    else
        arena.take(capacity * 8 * components_of(type));
}

void note_end(LoweredKernel& kernel, const Arena& arena) {
    WidthOffset& scratch = kernel.scratch;
    scratch.offset = std::max(scratch.offset, arena.end().offset);
    scratch.per_width = std::max(scratch.per_width, arena.end().per_width);
}

/// Whether sines are too many to write each in place, for every component and
/// pair of a tile: a chain of six compiles in 24 ms with calls, in 28 without,
/// and runs as fast.
bool has_many_sines(const Graph& graph, const Plan& plan) {
    constexpr std::int64_t few = 4;
    std::int64_t places = 0;
    for (const Node& node : graph.nodes) {
        if ((node.op != Op::Sin && node.op != Op::Cos) ||
            node.type.dtype != DType::F32)
            continue;
        const std::int64_t components = components_of(node.type);
        const bool is_loop = components < 1 || components > plan.unroll;
        const int pairs =
            node.type.axes == Axes::IJ ? plan.row_vectors * plan.columns : 1;
        places += (is_loop ? 1 : components) * pairs;
    }
    return places > few;
}

/// Whether prepare leaves the value, or it is read where it lies.
bool is_constant(const Placement& placement, ValueId id) {
    return placement.constants.count(id) || placement.in_place.count(id);
}

/// Cuts the loops that compute the values of one axis.
void cut_loops(const Graph& graph, const Plan& plan, const Placement& placement,
               Operands& operands) {
    const auto& [leaves, computed, crossing] = operands.values;
    const auto is_ready = [&](ValueId id) {
        return is_constant(placement, id) || std::ranges::count(leaves, id) ||
               (operands.has(id) &&
                operands.of.at(id).order == OperandOrder::Points);
    };
    std::vector<ValueId> in_lanes;
    for (ValueId id : computed)
        if (operands.of.at(id).order != OperandOrder::Points)
            in_lanes.push_back(id);
    if (std::ranges::all_of(
            in_lanes, [&](ValueId id) { return graph[id].type.rank == 0; }))
        operands.scalars = cut_scalars(graph, in_lanes, is_ready);
    for (ValueId root : in_lanes)
        operands.chains.merge(
            cut_contractions(graph, plan, {&root, 1}, [&](ValueId id) {
                return is_ready(id) ||
                       (id != root && std::ranges::count(in_lanes, id));
            }));
}

/// Gives the values of one axis their places, and cuts the loops that compute
/// them.
void lower_operands(const Graph& graph, const Plan& plan,
                    const LoweredKernel& kernel, Operands& operands,
                    Arena& arena) {
    place_operands(graph, plan, kernel.contractions, operands, arena);
    cut_loops(graph, plan, kernel.placement, operands);
}

LoopChains cut_constants(const Graph& graph, const Plan& plan,
                         const Placement& placement) {
    std::vector<ValueId> roots;
    for (const auto& [id, place] : placement.constants)
        roots.push_back(id);
    return cut_contractions(graph, plan, roots,
                            [&](ValueId id) { return graph[id].arity == 0; });
}

/// Cuts the loops of what is computed of pairs, and after reductions.
void cut_pairs(const Graph& graph, const Plan& plan, LoweredKernel& kernel) {
    const Placement& placement = kernel.placement;
    std::vector<ValueId> bodies;
    for (const LoweredReduction& reduction : kernel.reductions)
        for (ValueId operand : graph[reduction.id].inputs())
            bodies.push_back(operand);
    kernel.pair_chains = cut_contractions(graph, plan, bodies, [&](ValueId id) {
        return is_constant(placement, id) || kernel.rows.has(id) ||
               kernel.columns.has(id) || kernel.kept.slabs.has(id) ||
               kernel.kept.tiles.has(id) || kernel.kept.vectors.has(id);
    });
    kernel.result_chains =
        cut_contractions(graph, plan, {&graph.result, 1}, [&](ValueId id) {
            return is_constant(placement, id) || kernel.epilogue.has(id) ||
                   graph[id].op == Op::Reduce;
        });
}

/// Lowers the rows of a block, the columns of a panel, and what is made of
/// both.
void lower_pairs(const Graph& graph, const Plan& plan, LoweredKernel& kernel) {
    const Contractions& contractions = kernel.contractions;
    Arena arena;
    kernel.rows = {.axis = Axes::I,
                   .values = with_layers(graph, contractions,
                                         kernel.placement.rows, Axes::I),
                   .order = OperandOrder::Tiles,
                   .capacity = plan.row_block,
                   .tile = plan.row_vectors * plan.lanes};
    lower_operands(graph, plan, kernel, kernel.rows, arena);
    kernel.splits = place_splits(graph, plan, contractions, arena);
    kernel.layers = place_layers(graph, plan, contractions, arena);
    kernel.filter = place_filter(graph, plan, contractions, arena);
    arena.take(read_ahead(kernel));
    kernel.kept = keep_pair_values(graph, plan, contractions,
                                   bodies_of(graph, kernel.reductions), arena);
    arena.take(read_ahead(kernel));
    kernel.columns = {.axis = Axes::J,
                      .values = with_layers(graph, contractions,
                                            kernel.placement.columns, Axes::J),
                      .order = OperandOrder::Points,
                      .capacity = plan.panel + most_run_ahead * plan.columns};
    lower_operands(graph, plan, kernel, kernel.columns, arena);
    arena.take(read_ahead(kernel));
    place_accumulators(kernel.reductions, kernel.vector_bytes,
                       kernel.columns.capacity, arena);
    if (plan.nest == Nest::SinglePanel) {
        arena.align(line_bytes);
        place_results(graph, plan.row_block, kernel.results, arena);
    }
    note_end(kernel, arena);
}

/// A loop over components is a chain of sums for each vector of pairs; fewer
/// than four of them wait for each other. Of 10⁴ batches of 4×4 pairs of 64
/// components, on a core of a Zen 4, four columns one by one took 5.9 ms, at a
/// time 2.9.
std::int32_t choose_last_columns(const Plan& plan,
                                 const LoweredKernel& kernel) {
    constexpr std::int32_t chains = 4;
    const std::int32_t columns = chains / plan.row_vectors;
    const bool has_loops = kernel.contractions.has(Contraction::Loop) ||
                           kernel.contractions.has(Contraction::Words);
    return has_loops && !kernel.has_lanes_over_columns && columns > 1 &&
                   columns < plan.columns
               ? columns
               : 1;
}

/// Decides which loops there are.
void choose_loops(const Graph& graph, const Plan& plan, LoweredKernel& kernel) {
    kernel.column_tile = kernel.contractions.takes_squares_of_columns()
                             ? whole_squares(plan.column_tile)
                             : plan.column_tile;
    kernel.by_column_tiles = std::ranges::any_of(
        kernel.reductions, &LoweredReduction::by_column_tiles);
    kernel.reads_in_place = reads_in_place(graph, plan, kernel);
    const bool has_sums_of_loops = !kernel.kept.slabs.empty() ||
                                   !kernel.kept.tiles.empty() ||
                                   !kernel.kept.vectors.empty();
    const bool is_plain =
        !has_sums_of_loops && kernel.columns.is_by_components();
    kernel.is_pipelined = plan.min_stage_cycles > 0 && is_plain;
    kernel.leaves_rare_out = kernel.is_pipelined && !kernel.by_column_tiles &&
                             plan.lanes > 1 && !kernel.calls_sines &&
                             sums_tell_rare(graph, kernel.reductions);
    kernel.has_lanes_over_columns = !kernel.reads_in_place && is_plain;
    kernel.last_columns = choose_last_columns(plan, kernel);
}

void lower_epilogue(const Graph& graph, const Plan& plan,
                    LoweredKernel& kernel) {
    Arena arena;
    kernel.epilogue = {.axis = Axes::I,
                       .values = kernel.placement.epilogue,
                       .capacity = row_chunk};
    lower_operands(graph, plan, kernel, kernel.epilogue, arena);
    place_results(graph, row_chunk, kernel.chunk_results, arena);
    note_end(kernel, arena);
}

PointEntry lower_points(const Graph& graph, const Plan& plan,
                        LoweredKernel& kernel, const Packed& rows,
                        const Packed& columns) {
    Arena arena;
    PointEntry entry;
    const Contractions& contractions = kernel.contractions;
    entry.rows = {.axis = Axes::I,
                  .values = with_layers(graph, contractions, rows, Axes::I),
                  .capacity = point_chunk};
    lower_operands(graph, plan, kernel, entry.rows, arena);
    entry.columns = {.axis = Axes::J,
                     .values =
                         with_layers(graph, contractions, columns, Axes::J),
                     .capacity = point_chunk};
    lower_operands(graph, plan, kernel, entry.columns, arena);
    std::set<ValueId> layers;
    for (ValueId id : contractions.layers)
        if (!entry.rows.has(id) && !entry.columns.has(id))
            layers.insert(id);
    entry.vectors = choose_vectors(layers, plan, 1, 1);
    place_vectors(graph, plan, 1, entry.vectors, arena);
    entry.chains =
        cut_contractions(graph, plan, {&graph.result, 1}, [&](ValueId id) {
            return is_constant(kernel.placement, id) || entry.rows.has(id) ||
                   entry.columns.has(id) || entry.vectors.has(id);
        });
    place_results(graph, point_chunk, entry.results, arena);
    note_end(kernel, arena);
    return entry;
}

} // namespace

LoweredKernel lower(const Graph& graph, const Plan& plan) {
    LoweredKernel kernel;
    kernel.placement =
        place_values(graph, plan.nest == Nest::Values, large_tables(graph));
    if (ir::folds_points(graph))
        kernel.placement.rows = without_truths(graph, kernel.placement.rows);
    kernel.contractions = choose_contractions(graph, plan);
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        kernel.packed.push_back(packed_dtype(graph, kernel.contractions, id));
    kernel.reductions =
        lower_reductions(graph, plan, kernel.contractions, kernel.placement);
    kernel.readers = lower_readers(graph, kernel.placement, kernel.reductions);
    kernel.vector_bytes =
        plan.row_vectors * plan.lanes * std::int64_t(size_of(graph.real));
    kernel.constant_chains = cut_constants(graph, plan, kernel.placement);
    kernel.calls_sines = has_many_sines(graph, plan);
    if (plan.nest == Nest::Values) {
        const Placement& at = kernel.placement;
        kernel.zip =
            lower_points(graph, plan, kernel, at.raw_rows, at.raw_columns);
        kernel.dense = lower_points(graph, plan, kernel, at.rows, at.columns);
        return kernel;
    }
    lower_pairs(graph, plan, kernel);
    choose_loops(graph, plan, kernel);
    if (plan.nest == Nest::Reduce)
        lower_epilogue(graph, plan, kernel);
    cut_pairs(graph, plan, kernel);
    return kernel;
}

} // namespace tilefold
