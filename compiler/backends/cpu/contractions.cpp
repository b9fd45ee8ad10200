// compiler/backends/cpu/contractions.cpp - which way each contraction takes.

#include "compiler/backends/cpu/contractions.h"

#include "compiler/ir/queries.h"
#include "compiler/monoids/state.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace tilefold {

using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

constexpr std::int64_t most_byte_components = 33025; // * 255² fits 31 bits
/// Vectors of float32 gain by other products from so many components on.
constexpr std::int32_t long_vector = 32;
/// Products of layers of so many units, and of as many inputs, go to the matrix
/// unit. A layer of relu behind one of tanh (of relu), by it in the time of
/// lanes, one core of an Emerald Rapids: 16 units 1.7 (1.4), 32 1.0 (0.5), 64
/// 0.8 (0.5), 128 0.6 (0.4).
constexpr std::int32_t tiled_layer = 32;
/// A component of a list of so many parts is read from memory: a loop over
/// components would choose among all parts for each.
constexpr std::int64_t long_list = 9;
/// Many of 10,000 columns get into a list of more places than these.
constexpr std::int64_t most_filtered = 32;

/// How columns whose distances may be small are found, if it pays. The 10
/// nearest of 20,000, with a filter in the time without, one core of an Emerald
/// Rapids; where differences have ports of their own, only bf16 spares any.
///   float32   D=6 0.96   7 0.92   8 0.86   12 0.79   16 0.74   32 0.72
///   blocks    D=8 1.1    12 0.8   16 0.73  20 0.67   24 0.59   32 0.5
///   bf16      of D=64 on a Zen 4 0.8, of 128 0.7
std::optional<Contraction> way_of_filter(Isa isa, DType dtype,
                                         std::int32_t components) {
    const IsaRow& row = row_of(isa);
    const bool is_single = dtype == DType::F32;
    if (is_single && row.blocks && components >= 16)
        return Contraction::FilteredByWords;
    if (row.ports == Ports::Shared && row.masks && components >= 7)
        return Contraction::Filtered;
    if (is_single && row.ports != Ports::Shared && row.bf16 &&
        components >= long_vector)
        return Contraction::FilteredByWords;
    return std::nullopt;
}

bool is_narrow(DType dtype) {
    return dtype == DType::I8 || dtype == DType::U8 || dtype == DType::BF16;
}

/// Whether vectors of float32 may be rounded to bf16 for words of it.
bool rounds_to_bf16(const Plan& plan) {
    const IsaRow& isa = row_of(plan.isa);
    return plan.parts == 1 && isa.bf16 && !isa.blocks;
}

/// A vector on one axis that is stored as narrow numbers, or may be rounded to
/// such; null of any other.
const ir::Argument* narrow_vector(const ir::Graph& graph, const Plan& plan,
                                  ValueId id) {
    const Node& node = graph[id];
    const bool is_vector = node.op == Op::Argument && node.type.rank == 1 &&
                           node.type.rows != dynamic &&
                           node.type.rows > plan.unroll &&
                           node.type.rows <= most_byte_components;
    if (!is_vector)
        return nullptr;
    const ir::Argument& argument = graph.arguments[std::size_t(node.first)];
    const bool rounds = argument.dtype == DType::F32 &&
                        node.type.rows >= long_vector && rounds_to_bf16(plan);
    return is_narrow(argument.dtype) || rounds ? &argument : nullptr;
}

/// Whether the weighted sums of a softmax are products of matrices.
bool weighs_by_tiles(const ir::Graph& graph, ValueId reduce, const Plan& plan) {
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

/// Whether the value is a vector of rows or columns of at least so many
/// components, and not of narrow numbers.
bool is_factor(const ir::Graph& graph, ValueId id, const Plan& plan,
               std::int32_t components) {
    const Node& vector = graph[id];
    const bool is_words =
        vector.op == Op::Argument &&
        is_narrow(graph.arguments[std::size_t(vector.first)].dtype);
    return !is_words && vector.type.axes != Axes::IJ &&
           vector.type.rows >= components &&
           is_by_component(graph, id, plan.unroll);
}

bool are_factors(const ir::Graph& graph, const Node& node, const Plan& plan,
                 std::int32_t components) {
    return node.type.axes == Axes::IJ &&
           std::ranges::all_of(node.inputs(), [&](ValueId factor) {
               return is_factor(graph, factor, plan, components);
           });
}

/// An inner product whose factors are cut into the plan's parts.
bool is_split(const ir::Graph& graph, ValueId id, const Plan& plan) {
    return plan.parts > 1 && row_of(plan.isa).blocks &&
           plan.nest == Nest::Reduce && graph.real == DType::F32 &&
           graph[id].op == Op::Dot &&
           are_factors(graph, graph[id], plan, long_vector);
}

std::int32_t components_of(const ir::Graph& graph, const Node& contraction) {
    return graph[contraction.operands[0]].type.rows;
}

/// The squared distance of vectors of which a list of the smallest is kept,
/// where the plan has products say which may be small; no_value where there is
/// none.
ValueId filtered_distance(const ir::Graph& graph, const Plan& plan) {
    ValueId found = ir::no_value;
    if (!plan.filter)
        return found;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (node.op != Op::Reduce || first_of_state(graph, id) != id)
            continue;
        const ir::Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
        const ValueId body = node.operands[0];
        const bool filtered =
            found == ir::no_value && monoid == ir::Monoid::KMinimum &&
            node.third <= most_filtered && graph[body].op == Op::SqDist &&
            are_factors(graph, graph[body], plan, 1) &&
            way_of_filter(plan.isa, graph.real,
                          components_of(graph, graph[body]));
        if (!filtered)
            return ir::no_value;
        found = body;
    }
    return found;
}

/// The arguments that nothing reads but one contraction of rows and columns of
/// narrow numbers, where the instruction set has one for them.
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
        const bool is_bf16 = size_of(one->dtype) > 1;
        if (is_bf16 != (size_of(other->dtype) > 1) ||
            (is_bf16 ? !isa.bf16 || node.op == Op::SqDist : isa.int8 == 0))
            continue;
        const int numbers = is_bf16 ? 2 : isa.int8;
        const std::int64_t components = graph[x].type.rows;
        found[x] = {node.op, one->dtype, other->dtype, components, numbers};
        found[y] = {node.op, other->dtype, one->dtype, components, numbers};
    }
    return found;
}

/// Returns how many words a step has that leave the fewest zeros.
std::int64_t best_depth(std::int64_t words) {
    const std::int64_t steps =
        (words + most_block_depth - 1) / most_block_depth;
    return (words + steps - 1) / steps;
}

/// Returns the depth of the steps that all products of a kernel have, since
/// shapes of tiles are set once: the one that leaves the fewest zeros, where
/// it may be chosen.
std::int64_t depth_of(const ir::Graph& graph, const Contractions& chosen) {
    if (chosen.has(Contraction::SplitTiles) || !chosen.weighed_by_tiles.empty())
        return most_block_depth;
    std::int64_t depth = 0;
    const auto meet = [&](std::int64_t words) {
        const std::int64_t best = best_depth(words);
        depth = depth == 0 || depth == best ? best : most_block_depth;
    };
    for (const auto& [id, way] : chosen.ways)
        if (way == Contraction::WordTiles)
            meet(chosen.words_of(graph[id].operands[0])->words());
        else if (way == Contraction::LayerTiles)
            meet((terms_of(graph, graph[id]) + 1) / 2);
    const ValueId filtered = chosen.first(Contraction::FilteredByWords);
    if (depth == 0 && filtered != ir::no_value)
        depth = best_depth((components_of(graph, graph[filtered]) + 1) / 2);
    return depth;
}

/// Whether a sum of a pair is long enough to be added slab by slab.
bool is_deep(const ir::Graph& graph, const Node& node, const Plan& plan) {
    return plan.k_block > 0 && plan.nest != Nest::Values &&
           node.type.rank == 0 && node.type.axes == Axes::IJ &&
           terms_of(graph, node) > plan.k_block &&
           std::ranges::all_of(node.inputs(), [&](ValueId factor) {
               const Axes axes = graph[factor].type.axes;
               return axes == Axes::I || axes == Axes::J;
           });
}

/// Whether it is a product of points or pairs that is too long to stay in
/// registers.
bool is_layer(const ir::Graph& graph, const Node& node, const Plan& plan) {
    if (!ir::is_matrix_product(node.op) || node.type.axes == Axes::None)
        return false;
    const std::int64_t terms = terms_of(graph, node);
    return node.type.rows != dynamic && terms != dynamic &&
           std::max<std::int64_t>(node.type.rows, terms) > plan.unroll;
}

/// Returns the lists of many parts that are in no other one on their axes.
std::vector<ValueId> find_long_lists(const ir::Graph& graph) {
    std::vector<bool> is_in_list(graph.nodes.size());
    for (const Node& node : graph.nodes)
        if (node.op == Op::Concat)
            for (ValueId part : node.inputs())
                if (graph[part].type.axes == node.type.axes)
                    is_in_list[part] = true;
    std::vector<ValueId> lists;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Concat && !is_in_list[id] &&
            graph[id].type.rows != dynamic &&
            std::int64_t(ir::parts_of_list(graph, id).size()) >= long_list)
            lists.push_back(id);
    return lists;
}

/// Returns the products that are layers, what they multiply, and long lists.
/// The factors of an outer product are read as often as the other has
/// components.
std::set<ValueId> find_layers(const ir::Graph& graph, const Plan& plan) {
    std::set<ValueId> layers;
    const auto keep = [&](ValueId vector) {
        const Type& type = graph[vector].type;
        if (type.axes != Axes::None && type.rank == 1 &&
            type.rows > plan.unroll && type.dtype == graph.real &&
            graph[vector].op != Op::Argument)
            layers.insert(vector);
    };
    for (ValueId list : find_long_lists(graph))
        keep(list);
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (is_layer(graph, node, plan)) {
            layers.insert(id);
            keep(node.operands[ir::vector_operand(node.op)]);
        } else if (node.op == Op::Outer && node.type.axes != Axes::None) {
            keep(node.operands[0]);
            keep(node.operands[1]);
        }
    }
    return layers;
}

/// Whether the matrix unit takes a layer, whose matrix and vectors are cut into
/// the plan's parts.
bool is_tiled_layer(const ir::Graph& graph, ValueId id, const Plan& plan) {
    const Node& node = graph[id];
    const std::size_t vector = ir::vector_operand(node.op);
    const Type& factor = graph[node.operands[vector]].type;
    return plan.parts > 1 && row_of(plan.isa).blocks &&
           plan.nest == Nest::Reduce && node.type.dtype == DType::F32 &&
           graph[node.operands[1 - vector]].type.axes == Axes::None &&
           factor.axes == Axes::IJ && factor.rows >= tiled_layer &&
           node.type.rows >= tiled_layer;
}

/// Returns how a contraction is computed that narrow words, splits and the
/// filter leave.
Contraction way_of_lanes(const ir::Graph& graph, const Node& node,
                         const Plan& plan) {
    if (is_deep(graph, node, plan))
        return Contraction::Slabs;
    const std::int64_t terms = terms_of(graph, node);
    return terms == dynamic || terms > plan.unroll ? Contraction::Loop
                                                   : Contraction::Unrolled;
}

/// Vectors that nothing but one product of the matrix unit reads are not kept:
/// they are computed where its words are made.
void leave_to_tiles(const ir::Graph& graph, Contractions& chosen) {
    const std::vector<int> readers = count_readers(graph);
    for (const auto& [id, way] : chosen.ways) {
        const Node& node = graph[id];
        if (way != Contraction::LayerTiles)
            continue;
        const ValueId vector = node.operands[ir::vector_operand(node.op)];
        if (readers[vector] == 1 && chosen.ways.count(vector) == 0)
            chosen.layers.erase(vector);
    }
}

struct ContractionRow {
    std::string_view spelling, doc;
};
constexpr ContractionRow contraction_rows[] = {
#define CONTRACTION(name, spelling, doc) {spelling, doc},
#include "compiler/backends/cpu/contractions.def"
#undef CONTRACTION
};

} // namespace

bool is_by_component(const ir::Graph& graph, ValueId id, std::int32_t unroll) {
    // What was met holds, or the answer is known: each value is asked once,
    // however many ways lead to it.
    std::set<ValueId> met;
    const std::function<bool(ValueId)> holds = [&](ValueId value) {
        const Node& node = graph[value];
        if (!met.insert(value).second)
            return true;
        if (node.type.axes == Axes::None)
            return node.type.rank == 0 || node.type.dtype == DType::F64;
        if (node.type.rank != 1 || node.type.rows == dynamic ||
            node.type.rows <= unroll || node.type.dtype != graph.real)
            return false;
        return node.op == Op::Argument ||
               (ir::is_elementwise(node.op) &&
                std::ranges::all_of(node.inputs(), holds));
    };
    return holds(id);
}

std::string_view spelling_of(Contraction contraction) {
    return contraction_rows[std::size_t(contraction)].spelling;
}

std::string_view doc_of(Contraction contraction) {
    return contraction_rows[std::size_t(contraction)].doc;
}

ValueId Contractions::first(Contraction way) const {
    const auto found = std::ranges::find_if(
        ways, [&](const auto& entry) { return entry.second == way; });
    return found == ways.end() ? ir::no_value : found->first;
}

Contractions choose_contractions(const ir::Graph& graph, const Plan& plan) {
    Contractions chosen;
    chosen.words = find_words(graph, plan);
    chosen.layers = find_layers(graph, plan);
    const bool tiled = row_of(plan.isa).blocks;
    const ValueId filtered = filtered_distance(graph, plan);
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (node.op == Op::Reduce && weighs_by_tiles(graph, id, plan))
            chosen.weighed_by_tiles.insert(id);
        if (!ir::is_contraction(node.op))
            continue;
        if (chosen.words_of(node.operands[0]))
            chosen.ways[id] =
                tiled ? Contraction::WordTiles : Contraction::Words;
        else if (is_split(graph, id, plan))
            chosen.ways[id] = Contraction::SplitTiles;
        else if (chosen.layers.count(id) > 0 &&
                 (node.type.axes == Axes::IJ || plan.nest == Nest::Values))
            chosen.ways[id] = is_tiled_layer(graph, id, plan)
                                  ? Contraction::LayerTiles
                                  : Contraction::Layer;
        else if (id == filtered)
            chosen.ways[id] = *way_of_filter(plan.isa, graph.real,
                                             components_of(graph, node));
        else
            chosen.ways[id] = way_of_lanes(graph, node, plan);
    }
    leave_to_tiles(graph, chosen);
    chosen.depth = depth_of(graph, chosen);
    chosen.uses_matrix_unit = tiled && chosen.depth > 0;
    for (auto& [id, words] : chosen.words)
        words.depth = tiled ? chosen.depth : 0;
    return chosen;
}

} // namespace tilefold
