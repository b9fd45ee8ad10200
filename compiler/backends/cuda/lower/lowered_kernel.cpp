// compiler/backends/cuda/lower/lowered_kernel.cpp - from a graph and a plan to
// all that the emitter walks.

#include "compiler/backends/cuda/lower/lowered_kernel.h"

#include "compiler/backends/cuda/plan/plan_memory.h"
#include "compiler/ir/queries.h"
#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool uses(const Graph& graph, const std::vector<Op>& ops) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) {
        return std::ranges::count(ops, node.op) ||
               (node.fold && (uses(node.fold->accumulate, ops) ||
                              uses(node.fold->merge, ops)));
    });
}

Libraries libraries_of(const Graph& graph, const Plan& plan) {
    return {.warps = plan.is_tiled(),
            .random = uses(graph, {Op::Rand, Op::Randn}),
            .special = uses(graph, {Op::BesselJ, Op::BesselY, Op::BesselI,
                                    Op::BesselK, Op::Polygamma})};
}

Loop loop_of(const Graph& graph, const Plan& plan) {
    if (!ir::reduces(graph))
        return Loop::Values;
    switch (plan.lanes) {
    case Lanes::Rows:
        break;
    case Lanes::Columns:
        return Loop::FewRows;
    case Lanes::Points:
        return Loop::Points;
    }
    if (plan.uses_value_matmul())
        return Loop::Wide;
    return plan.is_tiled() ? Loop::Pairs : Loop::Rows;
}

/// The product of tiles is multiplied as the plan says, every other sum by
/// each pair, or point, alone.
std::map<ValueId, Multiply> ways_of(const Registers& registers,
                                    const Plan& plan) {
    std::map<ValueId, Multiply> ways;
    const Graph& graph = registers.graph;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (ir::is_contraction(graph[id].op))
            ways[id] = registers.product && registers.product->id == id
                           ? plan.multiply
                           : Multiply::Alone;
    return ways;
}

std::int64_t depth_of(const Product& product, const Plan& plan) {
    return (product.components + plan.chunk - 1) / plan.chunk * plan.chunk;
}

LoweredProduct lower_product(const Product& product, const Plan& plan) {
    return {
        .components = product.components,
        .depth = depth_of(product, plan),
        .squares = product.is_distance && !plan.expands,
        .expands = plan.expands,
        .clamps = plan.expands && !product.may_be_negative,
        .terms = plan.multiply == Multiply::Bf16x3 ? 3 : 1,
        .is_f16 = plan.multiply == Multiply::F16,
    };
}

FragmentWords fragments_of(const std::optional<Product>& product,
                           const Plan& plan) {
    const std::int64_t in_word = plan.multiply == Multiply::Tf32x3 ? 1 : 2;
    return {product ? depth_of(*product, plan) / in_word : 0,
            plan.chunk / in_word};
}

/// Arguments of floats are loaded as they lie.
Fetch fetch_of(const Graph& graph, ValueId vector, bool is_copied) {
    const DType stored = stored_dtype(graph, vector);
    const bool lies_so = graph[vector].op == Op::Argument &&
                         kind_of(stored) == DTypeKind::Float &&
                         stored != DType::F64;
    return is_copied ? Fetch::Copied : lies_so ? Fetch::Four : Fetch::Computed;
}

/// Lowers what the loops over tiles bring: factors of products, and values.
void lower_fetches(LoweredKernel& kernel) {
    const Registers& registers = kernel.registers;
    LoweredAddress rows{Axes::I, {}}, columns{Axes::J, {}};
    const auto add = [&](ValueId vector, LoweredAddress& address,
                         std::string_view name) {
        const bool is_copied = kernel.plan.copies && address.axis == Axes::J;
        address.vectors.push_back(vector);
        kernel.fetched.push_back(
            {vector, address.axis, name,
             fetch_of(registers.graph, vector, is_copied)});
    };
    if (registers.product) {
        add(registers.product->left, rows, "left");
        add(registers.product->right, columns, "right");
    }
    if (registers.wide)
        add(registers.wide->value, columns, "value");
    kernel.addresses.push_back(std::move(columns));
    if (registers.product)
        kernel.addresses.push_back(std::move(rows));
}

void lower_tiles(LoweredKernel& kernel) {
    const std::optional<Product>& product = kernel.registers.product;
    if (product)
        kernel.product = lower_product(*product, kernel.plan);
    kernel.fragments = fragments_of(product, kernel.plan);
    lower_fetches(kernel);
}

/// Waiting for states one by one would take longer than all else.
std::int64_t states_ahead(std::int64_t slots) {
    constexpr std::int64_t most_slots = 4, most = 4;
    return slots <= most_slots ? most : 1;
}

void lower_states(LoweredKernel& kernel) {
    const Registers& registers = kernel.registers;
    kernel.folds_rows = folds_rows(registers.graph);
    kernel.folds_blocks = folds_blocks(registers.graph);
    kernel.chooses = chooses_pairs(registers.graph);
    kernel.slots = slots_of(registers.state);
    kernel.states_ahead = states_ahead(kernel.slots);
    for (ValueId id : registers.placement.epilogue.leaves)
        if (registers.graph[id].op == Op::Argument)
            kernel.epilogue.push_back(id);
}

} // namespace

std::string_view spelling_of(Loop loop) {
    switch (loop) {
#define LOOP(name, spelling, doc)                                              \
    case Loop::name:                                                           \
        return spelling;
#include "compiler/backends/cuda/lower/loops.def"
#undef LOOP
    }
    internal_error("a loop without a row");
}

std::string_view doc_of(Loop loop) {
    switch (loop) {
#define LOOP(name, spelling, doc)                                              \
    case Loop::name:                                                           \
        return doc;
#include "compiler/backends/cuda/lower/loops.def"
#undef LOOP
    }
    internal_error("a loop without a row");
}

std::string_view spelling_of(Fetch fetch) {
    switch (fetch) {
    case Fetch::Computed:
        return "one by one";
    case Fetch::Four:
        return "four at a time";
    case Fetch::Copied:
        return "whole vectors, copied";
    }
    internal_error("a way to fetch without a case");
}

LoweredKernel lower(const Graph& graph, const Plan& plan) {
    LoweredKernel kernel;
    kernel.plan = plan;
    kernel.registers = place_registers(
        of_width(graph, plan.width_block),
        {plan.multiply != Multiply::Alone, plan.uses_value_matmul()});
    kernel.open = open_argument(graph);
    kernel.operands = std::int32_t(graph.arguments.size());
    kernel.loop = loop_of(graph, plan);
    kernel.sites = sites_of(kernel.registers.graph);
    kernel.ways = ways_of(kernel.registers, plan);
    kernel.libraries = libraries_of(graph, plan);
    // The alignment lets a column be read by few wide instructions.
    kernel.column_alignment =
        kernel.registers.column.record.bytes() > 8 ? 16 : 8;
    lower_states(kernel);
    if (plan.is_tiled())
        lower_tiles(kernel);
    return kernel;
}

} // namespace tilefold::cuda
