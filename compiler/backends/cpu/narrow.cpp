// compiler/backends/cpu/narrow.cpp - finding contractions of narrow numbers.

#include "compiler/backends/cpu/narrow.h"

#include "compiler/ir/queries.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilefold {

using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

constexpr std::int64_t most_components = 33025; // * 255² fits 31 bits
/// Places of a list that many of 10,000 columns get into.
constexpr std::int64_t most_sieved = 32;

bool is_narrow(DType dtype) {
    return dtype == DType::I8 || dtype == DType::U8 || dtype == DType::BF16;
}

/// A vector on one axis that is stored as narrow numbers; null of any other.
const ir::Argument* narrow_vector(const ir::Graph& graph, const Plan& plan,
                                  ValueId id) {
    const Node& node = graph[id];
    const bool is_vector = node.op == Op::Argument && node.type.rank == 1 &&
                           node.type.rows != dynamic &&
                           node.type.rows > plan.unroll &&
                           node.type.rows <= most_components;
    if (!is_vector)
        return nullptr;
    const ir::Argument& argument = graph.arguments[std::size_t(node.first)];
    return is_narrow(argument.dtype) ? &argument : nullptr;
}

} // namespace

bool weighs_by_blocks(const ir::Graph& graph, ValueId reduce,
                      const Plan& plan) {
    const Node& node = graph[reduce];
    const bool is_softmax =
        row_of(ir::Reduction(node.first)).monoid == ir::Monoid::SoftMax;
    // Two products of bf16 take lanes as long as one of float32: only weights
    // of one part gain by them.
    const IsaRow& isa = row_of(plan.isa);
    const bool gains = isa.blocks || (isa.bf16 && plan.weight_parts == 1);
    if (!is_softmax || !gains || graph.real != DType::F32)
        return false;
    const ValueId id = node.operands[1];
    const Node& values = graph[id];
    return values.op == Op::Argument && values.type.rank == 1 &&
           values.type.axes == Axes::J &&
           (values.type.rows == dynamic || values.type.rows > plan.unroll) &&
           graph.arguments[std::size_t(values.first)].dtype == DType::BF16 &&
           count_readers(graph)[id] == 1;
}

bool weighs_by_blocks(const ir::Graph& graph, const Plan& plan) {
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Reduce && weighs_by_blocks(graph, id, plan))
            return true;
    return false;
}

bool is_by_component(const ir::Graph& graph, ValueId id, std::int32_t unroll) {
    const Node& node = graph[id];
    if (node.type.axes == Axes::None)
        return node.type.rank == 0 || node.type.dtype == DType::F64;
    if (node.type.rank != 1 || node.type.rows == dynamic ||
        node.type.rows <= unroll || node.type.dtype != graph.real)
        return false;
    return node.op == Op::Argument ||
           (ir::is_elementwise(node.op) &&
            std::ranges::all_of(node.inputs(), [&](ValueId input) {
                return is_by_component(graph, input, unroll);
            }));
}

/// A long vector of rows or columns, not of narrow numbers.
static bool is_long_factor(const ir::Graph& graph, ValueId id,
                           const Plan& plan) {
    constexpr std::int32_t least_components = 32;
    const Node& vector = graph[id];
    const bool is_words =
        vector.op == Op::Argument &&
        is_narrow(graph.arguments[std::size_t(vector.first)].dtype);
    return !is_words && vector.type.axes != Axes::IJ &&
           vector.type.rows >= least_components &&
           is_by_component(graph, id, plan.unroll);
}

static bool are_long_factors(const ir::Graph& graph, const Node& node,
                             const Plan& plan) {
    return node.type.axes == Axes::IJ &&
           std::ranges::all_of(node.inputs(), [&](ValueId factor) {
               return is_long_factor(graph, factor, plan);
           });
}

bool multiplies_by_parts(const ir::Graph& graph, ValueId id, const Plan& plan) {
    return plan.parts > 0 && row_of(plan.isa).blocks &&
           plan.nest == Nest::Reduce && graph.real == DType::F32 &&
           graph[id].op == Op::Dot && are_long_factors(graph, graph[id], plan);
}

ValueId sieved_distance(const ir::Graph& graph, const Plan& plan) {
    ValueId found = ir::no_value;
    if (!plan.sieve || !row_of(plan.isa).bf16 || graph.real != DType::F32)
        return found;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::Reduce)
            continue;
        const ir::Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
        const ValueId body = node.operands[0];
        const bool sieved =
            found == ir::no_value && monoid == ir::Monoid::KMinimum &&
            node.third <= most_sieved && graph[body].op == Op::SqDist &&
            are_long_factors(graph, graph[body], plan);
        if (!sieved)
            return ir::no_value;
        found = body;
    }
    return found;
}

/// All products of a kernel have steps of one depth, since shapes of blocks are
/// set once: what leaves the fewest zeros, where it may be chosen.
static void set_depth(const ir::Graph& graph, const Plan& plan,
                      std::map<ValueId, Words>& found) {
    std::int64_t depth = 0;
    for (const auto& [id, words] : found) {
        const std::int64_t steps =
            (words.words() + most_block_depth - 1) / most_block_depth;
        const std::int64_t best = (words.words() + steps - 1) / steps;
        depth = depth == 0 || depth == best ? best : most_block_depth;
    }
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (multiplies_by_parts(graph, id, plan) ||
            (graph[id].op == Op::Reduce && weighs_by_blocks(graph, id, plan)))
            depth = most_block_depth;
    for (auto& [id, words] : found)
        words.depth = depth;
}

std::map<ValueId, Words> find_words(const ir::Graph& graph, const Plan& plan) {
    std::map<ValueId, Words> found;
    const IsaRow& isa = row_of(plan.isa);
    if (plan.nest != Nest::Reduce || graph.real != DType::F32)
        return found;
    const std::vector<int> readers = count_readers(graph);
    for (const Node& node : graph.nodes) {
        if ((node.op != Op::Dot && node.op != Op::SqDist) ||
            node.type.axes != Axes::IJ)
            continue;
        const auto [x, y] = std::pair(node.operands[0], node.operands[1]);
        const ir::Argument* one = narrow_vector(graph, plan, x);
        const ir::Argument* other = narrow_vector(graph, plan, y);
        if (!one || !other || readers[x] != 1 || readers[y] != 1)
            continue;
        const bool is_bf16 = one->dtype == DType::BF16;
        if (is_bf16 != (other->dtype == DType::BF16) ||
            (is_bf16 ? !isa.bf16 || node.op == Op::SqDist : !isa.bytes8))
            continue;
        found[x] = {node.op, one->dtype, other->dtype, graph[x].type.rows};
        found[y] = {node.op, other->dtype, one->dtype, graph[x].type.rows};
    }
    if (isa.blocks)
        set_depth(graph, plan, found);
    return found;
}

} // namespace tilefold
