// compiler/backends/cuda/image/emit.cpp - a lowered kernel to CUDA C++.

#include "compiler/backends/cuda/image/emit.h"

#include "compiler/backends/cuda/evaluate/vectors.h"
#include "compiler/backends/cuda/image/call.h"
#include "compiler/backends/cuda/image/functions.h"
#include "compiler/backends/cuda/text/refuse.h"
#include "cuda_device_sources.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

std::string functions_of(const Libraries& libraries) {
    std::string text;
    text.append(device::ptx).append(device::ptx_shuffle);
    text.append(device::math).append(device::integer);
    if (libraries.warps)
        text.append(device::ptx_warp);
    if (libraries.random)
        text.append(device::random);
    if (libraries.special)
        text.append(device::series).append(device::special);
    return text;
}

std::string frame_of(const LoweredKernel& kernel) {
    if (kernel.operands > operand_count)
        refuse(std::to_string(kernel.operands) + " arguments",
               "pass at most " + std::to_string(operand_count) +
                   ", for instance as components of one array");
    Writer writer;
    writer.constant("operand_count", std::max(kernel.operands, 1));
    writer.constant("width_block", kernel.plan.width_block);
    writer.constant("is_open", kernel.open >= 0);
    std::string text =
        writer.take().append(device::call).append(device::memory);
    if (kernel.has_tiles())
        text.append(device::four);
    if (kernel.plan.copies)
        text.append(device::stored);
    return text;
}

void write_constants(Writer& writer, const LoweredKernel& kernel) {
    const Plan& plan = kernel.plan;
    writer.constant("threads", plan.threads);
    writer.constant("rows_per_thread", plan.rows_per_thread);
    writer.constant("tile_columns", plan.tile_columns);
    writer.constant("columns_unrolled", plan.columns_unrolled);
    writer.constant("block_rows", plan.block_rows());
    writer.constant("shared_bytes", plan.shared_bytes);
    writer.constant("folds_rows", kernel.folds_rows);
    writer.constant("folds_blocks", kernel.folds_blocks);
    writer.constant("shares_rows", plan.lanes == Lanes::Columns);
    writer.constant("chooses", kernel.chooses);
}

/// Writes the constants that the loops over tiles of pairs are compiled for.
void write_product_constants(Writer& writer, const LoweredProduct& product,
                             std::int64_t chunk) {
    writer.constant("components", product.components);
    writer.constant("depth", product.depth);
    writer.constant("chunk", chunk);
    writer.constant("squares", product.squares);
    writer.constant("expands", product.expands);
    writer.constant("clamps", product.clamps);
    writer.constant("terms", product.terms);
    writer.constant("is_f16", product.is_f16);
}

void write_wide_constants(Writer& writer, const Plan& plan, const Wide& wide) {
    writer.constant("wide_components", wide.components);
    writer.constant("weight_parts", plan.weight_parts);
    writer.constant("value_parts", plan.value_parts);
    writer.constant("tiles_held", plan.tiles_held);
    writer.constant("is_softmax", wide.is_softmax);
    writer.constant("halves", plan.halves);
    // The sums come after the maximum and the sum of weights.
    writer.constant("first_sum", wide.is_softmax ? 2 : 0);
}

void write_tile_constants(Writer& writer, const LoweredKernel& kernel) {
    if (kernel.product)
        write_product_constants(writer, *kernel.product, kernel.plan.chunk);
    if (kernel.registers.wide)
        write_wide_constants(writer, kernel.plan, *kernel.registers.wide);
    writer.constant("warp_tiles", kernel.plan.warp_tiles);
    writer.constant("left_words", kernel.fragments.left);
    writer.constant("right_words", kernel.fragments.right);
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

std::string loops_of(const LoweredKernel& kernel) {
    std::string loops;
    switch (kernel.loop) {
    case Loop::Values:
        return loops.append(device::values);
    case Loop::Points:
        return loops.append(device::points);
    case Loop::FewRows:
        return loops.append(device::thread_rows)
            .append(device::column_parallel);
    case Loop::Rows:
        return loops.append(device::thread_rows).append(device::rows);
    case Loop::Pairs:
        loops.append(device::columns).append(product_of(kernel.plan.multiply));
        return loops.append(device::pairs);
    case Loop::Wide:
        loops.append(device::columns).append(product_of(kernel.plan.multiply));
        return loops.append(wide_of(kernel.plan));
    }
    internal_error("a loop without a case");
}

std::string ends_of(const LoweredKernel& kernel) {
    std::string ends;
    if (kernel.reduces())
        ends.append(device::finish);
    ends.append(device::prepare);
    if (kernel.folds_rows)
        ends.append(device::fold_rows);
    return ends;
}

void write_records(Writer& writer, const LoweredKernel& kernel) {
    const Registers& registers = kernel.registers;
    writer.record(registers.constants_record);
    writer.blank();
    writer.record(registers.row.record);
    writer.blank();
    writer.record(registers.column.record, kernel.column_alignment);
    writer.blank();
    if (!kernel.reduces())
        return;
    writer.record(registers.partial);
    writer.blank();
    writer.record(registers.state);
    writer.blank();
}

std::string formula_functions(const LoweredKernel& kernel) {
    Writer writer;
    write_constants(writer, kernel);
    if (kernel.reduces())
        writer.constant("states_ahead", kernel.states_ahead);
    if (kernel.has_tiles())
        write_tile_constants(writer, kernel);
    writer.blank();
    write_records(writer, kernel);
    write_compute_constants(writer, kernel.registers);
    write_load_constants(writer, kernel.registers);
    write_load_point(writer, kernel, Axes::I);
    write_load_point(writer, kernel, Axes::J);
    if (kernel.has_tiles())
        write_fetches(writer, kernel);
    if (kernel.loop == Loop::Wide)
        write_pair_weight(writer, kernel, packed_leaves(kernel));
    if (kernel.reduces())
        write_reduce_functions(writer, kernel);
    else
        write_value_function(writer, kernel);
    return writer.take();
}

Shape shape_of(const LoweredKernel& kernel) {
    return {
        .reduces = kernel.reduces(),
        .folds_rows = kernel.folds_rows,
        .folds_blocks = kernel.folds_blocks,
        .is_open = kernel.open >= 0,
        .constants = kernel.registers.placement.constants_size,
        .slots = kernel.slots,
        .shared_bytes = kernel.plan.shared_bytes,
        .operands = kernel.operands,
    };
}

} // namespace

std::vector<SourceProgram> Source::programs() const {
    std::vector<SourceProgram> programs = {{common() + loops, plain_loops}};
    if (!ends.empty())
        programs.push_back({common() + ends});
    return programs;
}

std::size_t Source::program_of(std::string_view kernel, std::size_t programs) {
    constexpr std::string_view of_ends[] = {"prepare", "finish",
                                            "merge_states"};
    return std::ranges::count(of_ends, kernel) ? programs - 1 : 0;
}

Emitted emit(const LoweredKernel& kernel) {
    Emitted emitted;
    Source& source = emitted.source;
    source.functions = functions_of(kernel.libraries);
    source.frame = frame_of(kernel);
    source.formula = formula_functions(kernel);
    if (kernel.reduces())
        source.tasks.append(device::task).append(device::block);
    source.loops = loops_of(kernel);
    source.ends = ends_of(kernel);
    source.plain_loops = !kernel.has_tiles();
    emitted.shape = shape_of(kernel);
    return emitted;
}

Emitted emit(const ir::Graph& graph, const Plan& plan) {
    return emit(lower(graph, plan));
}

std::string all_functions() {
    std::string text;
    for (std::string_view part :
         {device::ptx, device::ptx_shuffle, device::ptx_warp, device::math,
          device::integer, device::random, device::series, device::special})
        text.append(part);
    return text;
}

} // namespace tilefold::cuda
