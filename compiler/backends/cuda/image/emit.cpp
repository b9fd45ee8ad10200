// compiler/backends/cuda/image/emit.cpp - a graph and a plan to CUDA C++.

#include "compiler/backends/cuda/image/emit.h"

#include "compiler/backends/cuda/image/call.h"
#include "compiler/backends/cuda/image/functions.h"
#include "compiler/backends/cuda/text/refuse.h"
#include "cuda_device_sources.h"

#include <algorithm>
#include <tuple>

namespace tilefold::cuda {
namespace {

using ir::Op;

bool uses(const ir::Graph& graph, const std::vector<Op>& ops) {
    return std::ranges::any_of(graph.nodes, [&](const ir::Node& node) {
        return std::ranges::count(ops, node.op) ||
               (node.fold && (uses(node.fold->accumulate, ops) ||
                              uses(node.fold->merge, ops)));
    });
}

std::string functions_of(const ir::Graph& graph, const Plan& plan) {
    std::string text;
    text.append(device::ptx).append(device::ptx_shuffle);
    text.append(device::math).append(device::whole);
    if (plan.is_tiled())
        text.append(device::ptx_warp);
    if (uses(graph, {Op::Rand, Op::Randn}))
        text.append(device::random);
    if (uses(graph, {Op::BesselJ, Op::BesselY, Op::BesselI, Op::BesselK,
                     Op::Polygamma}))
        text.append(device::series).append(device::special);
    return text;
}

std::string frame_of(const ir::Graph& graph, const Plan& plan) {
    const std::size_t operands = graph.arguments.size();
    if (operands > std::size_t(operand_count))
        refuse(std::to_string(operands) + " arguments",
               "pass at most " + std::to_string(operand_count) +
                   ", for instance as components of one array");
    Writer writer;
    writer.constant("operand_count",
                    std::max<std::int64_t>(std::int64_t(operands), 1));
    writer.constant("width_block", plan.width_block);
    writer.constant("is_open", open_argument(graph) >= 0);
    std::string text =
        writer.take().append(device::call).append(device::memory);
    if (plan.is_tiled())
        text.append(device::four);
    if (plan.copies)
        text.append(device::stored);
    return text;
}

void write_constants(Writer& writer, const Plan& plan, const Sites& sites,
                     const ir::Graph& graph) {
    writer.constant("threads", plan.threads);
    writer.constant("rows_per_thread", plan.rows_per_thread);
    writer.constant("tile_columns", plan.tile_columns);
    writer.constant("columns_unrolled", plan.columns_unrolled);
    writer.constant("block_rows", plan.block_rows());
    writer.constant("shared_bytes", plan.shared_bytes);
    writer.constant("folds_rows", sites.folds_rows);
    writer.constant("folds_blocks", folds_blocks(graph));
    writer.constant("shares_rows", plan.lanes == Lanes::Columns);
    writer.constant("chooses", chooses_pairs(graph));
}

/// What the loops over tiles of pairs are compiled for.
void write_product_constants(Writer& writer, const Plan& plan,
                             const Product& product) {
    const std::int64_t chunks =
        (product.components + plan.chunk - 1) / plan.chunk;
    writer.constant("components", product.components);
    writer.constant("depth", chunks * plan.chunk);
    writer.constant("chunk", plan.chunk);
    writer.constant("squares", product.is_distance && !plan.expands);
    writer.constant("expands", plan.expands);
    writer.constant("clamps", plan.expands && !product.may_be_negative);
    writer.constant("terms", plan.multiply == Multiply::Bf16x3 ? 3 : 1);
    writer.constant("is_f16", plan.multiply == Multiply::F16);
}

void write_wide_constants(Writer& writer, const Plan& plan, const Wide& wide) {
    writer.constant("wide_components", wide.components);
    writer.constant("weight_parts", plan.weight_parts);
    writer.constant("value_parts", plan.value_parts);
    writer.constant("tiles_held", plan.tiles_held);
    writer.constant("is_softmax", wide.is_softmax);
    writer.constant("halves", plan.halves);
    // After the maximum and the sum of weights.
    writer.constant("first_sum", wide.is_softmax ? 2 : 0);
}

/// Words of 4 bytes of a point and of a chunk of it, in shared memory.
void write_fragment_constants(Writer& writer, const Plan& plan,
                              const std::optional<Product>& product) {
    const std::int64_t in_word = plan.multiply == Multiply::Tf32x3 ? 1 : 2;
    const std::int64_t chunks =
        product ? (product->components + plan.chunk - 1) / plan.chunk : 0;
    writer.constant("warp_tiles", plan.warp_tiles);
    writer.constant("left_words", chunks * plan.chunk / in_word);
    writer.constant("right_words", plan.chunk / in_word);
}

std::string product_of(Multiply multiply) {
    std::string text;
    switch (multiply) {
    case Multiply::Alone:
        return text.append(device::fragments).append(device::no_product);
    case Multiply::Fma:
        return text.append(device::product_fma).append(device::vectors);
    case Multiply::Tf32x3:
        text.append(device::fragments).append(device::product_tf32);
        return text.append(device::vectors);
    case Multiply::Bf16x3:
    case Multiply::Bf16x1:
    case Multiply::Bf16:
    case Multiply::F16:
        text.append(device::fragments).append(device::product_half);
        return text.append(device::vectors);
    }
    internal_error("a way to multiply without a case");
}

std::string wide_of(const Plan& plan) {
    std::string text(device::value_tiles);
    if (plan.copies)
        text.append(device::copies)
            .append(device::values_stored)
            .append(device::wide)
            .append(device::tiles_ahead);
    else
        text.append(device::values_parts)
            .append(device::wide)
            .append(device::tiles_by_turns);
    return text.append(device::wide_kernel);
}

std::string loops_of(const Reduction& reduction, const Plan& plan) {
    if (reduction.monoids.empty())
        return std::string(device::values);
    std::string loops;
    switch (plan.lanes) {
    case Lanes::Rows:
        break;
    case Lanes::Columns:
        return loops.append(device::own_rows).append(device::few_rows);
    case Lanes::Points:
        return loops.append(device::points);
    }
    if (!plan.is_tiled())
        return loops.append(device::own_rows).append(device::rows);
    return std::string(device::columns) + product_of(plan.multiply) +
           (plan.is_wide() ? wide_of(plan) : std::string(device::pairs));
}

std::string ends_of(const Reduction& reduction) {
    std::string ends;
    if (!reduction.monoids.empty())
        ends.append(device::finish);
    ends.append(device::prepare);
    if (reduction.sites.folds_rows)
        ends.append(device::fold_rows);
    return ends;
}

/// So that a column is read by few wide instructions.
int alignment_of(const Record& column) {
    const std::int64_t bytes = column.bytes();
    return bytes > 8 ? 16 : 8;
}

std::int64_t slots_of(const Record& state) {
    std::int64_t slots = 0;
    for (const Field& field : state.fields())
        slots += std::max<std::int64_t>(field.length, 1);
    return slots;
}

/// States that `finish` loads at a time: waiting for one by one would take
/// longer than all else.
std::int64_t states_ahead(const Record& state) {
    constexpr std::int64_t most_slots = 4, most = 4;
    return slots_of(state) <= most_slots ? most : 1;
}

/// How the loops over tiles read vectors: those of a product, and values.
void write_vectors(Writer& writer, const Reduction& reduction, const Plan& plan,
                   std::int32_t open) {
    const auto& [product, wide] = std::tie(reduction.product, reduction.wide);
    std::vector<ir::ValueId> rows, columns;
    if (product) {
        rows.push_back(product->left);
        columns.push_back(product->right);
    }
    if (wide)
        columns.push_back(wide->value);
    const PointAddress of_row(reduction.graph, Axes::I, rows);
    const PointAddress of_column(reduction.graph, Axes::J, columns);
    const auto write = [&](const PointAddress& address, ir::ValueId vector,
                           const std::string& side) {
        write_components(writer, reduction.graph, reduction.sites, address,
                         vector, side, open);
    };
    of_column.write(writer, open);
    if (product) {
        of_row.write(writer, open);
        write(of_row, product->left, "left");
        write(of_column, product->right, "right");
    }
    if (wide)
        write(of_column, wide->value, "value");
    if (plan.copies) {
        write_stored(writer, reduction.graph, of_column, product->right,
                     "right", open);
        write_stored(writer, reduction.graph, of_column, wide->value, "value",
                     open);
    }
}

std::string formula_functions(const Reduction& reduction, const Plan& plan,
                              std::int32_t open) {
    Writer writer;
    const Sites& sites = reduction.sites;
    write_constants(writer, plan, sites, reduction.graph);
    if (!reduction.monoids.empty())
        writer.constant("states_ahead", states_ahead(reduction.state));
    if (reduction.product)
        write_product_constants(writer, plan, *reduction.product);
    if (reduction.wide)
        write_wide_constants(writer, plan, *reduction.wide);
    if (plan.is_tiled())
        write_fragment_constants(writer, plan, reduction.product);
    writer.blank();
    writer.record(sites.constants_record);
    writer.blank();
    writer.record(sites.row.record);
    writer.blank();
    writer.record(sites.column.record, alignment_of(sites.column.record));
    writer.blank();
    if (!reduction.monoids.empty()) {
        writer.record(reduction.partial);
        writer.blank();
        writer.record(reduction.state);
        writer.blank();
    }
    write_compute_constants(writer, reduction.graph, sites);
    write_load_constants(writer, sites);
    write_load_point(writer, reduction.graph, sites, Axes::I, open);
    write_load_point(writer, reduction.graph, sites, Axes::J, open);
    if (plan.is_tiled())
        write_vectors(writer, reduction, plan, open);
    if (reduction.wide)
        write_pair_weight(writer, reduction.graph, *reduction.wide,
                          packed_leaves(reduction));
    if (reduction.monoids.empty())
        write_value_function(writer, reduction);
    else
        write_reduce_functions(writer, reduction, open >= 0);
    return writer.take();
}

} // namespace

std::vector<SourceProgram> Source::programs() const {
    std::vector<SourceProgram> programs = {{common() + loops, plain_loops}};
    if (!ends.empty())
        programs.push_back({common() + ends});
    return programs;
}

Emitted emit(const ir::Graph& graph, const Plan& plan) {
    const std::int32_t open = open_argument(graph);
    const Reduction reduction(
        of_width(graph, plan.width_block),
        {plan.multiply != Multiply::Alone, plan.is_wide()});
    const Sites& sites = reduction.sites;
    Emitted emitted;
    const bool reduces = !reduction.monoids.empty();
    Source& source = emitted.source;
    source.functions = functions_of(graph, plan);
    source.frame = frame_of(graph, plan);
    source.formula = formula_functions(reduction, plan, open);
    if (reduces)
        source.tasks.append(device::task).append(device::block);
    source.loops = loops_of(reduction, plan);
    source.ends = ends_of(reduction);
    source.plain_loops = !plan.is_tiled();
    emitted.shape.reduces = reduces;
    emitted.shape.folds_rows = sites.folds_rows;
    emitted.shape.folds_blocks = folds_blocks(graph);
    emitted.shape.is_open = open >= 0;
    emitted.shape.constants = sites.constants_size;
    emitted.shape.slots = slots_of(reduction.state);
    emitted.shape.operands = std::int32_t(graph.arguments.size());
    emitted.shape.shared_bytes = reduces ? plan.shared_bytes : 0;
    return emitted;
}

std::string all_functions() {
    std::string text;
    for (std::string_view part :
         {device::ptx, device::ptx_shuffle, device::ptx_warp, device::math,
          device::whole, device::random, device::series, device::special})
        text.append(part);
    return text;
}

} // namespace tilefold::cuda
