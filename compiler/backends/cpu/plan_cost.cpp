// compiler/backends/cpu/plan_cost.cpp - what a pair takes, by the cost model.

#include "compiler/backends/cpu/plan_cost.h"

#include "compiler/backends/cpu/contractions.h"
#include "compiler/ir/queries.h"
#include "compiler/monoids/state.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilefold {
namespace {

/// Which slots are counted: those that are issued, or those of the code, where
/// a loop over components stands once, and a function beyond `most` is called.
struct Counting {
    std::int32_t unroll = std::numeric_limits<std::int32_t>::max();
    double most = std::numeric_limits<double>::infinity();

    double turns(std::int32_t components) const {
        return components > unroll ? 1 : std::max(1, components);
    }
};

double slots_of(const ir::Graph& graph, Axes axes,
                const Counting& counting = {});

/// Returns the slots of a value on `axes`, those of a pair, for a vector of
/// pairs.
double slots_of(const ir::Graph& graph, const ir::Node& node, Axes axes,
                const Counting& counting = {}) {
    const double components = counting.turns(node.type.rows);
    if (node.op == ir::Op::Reduce) {
        const ir::Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
        if (node.fold)
            return slots_of(node.fold->accumulate, Axes::I, counting);
        return components * row_of(monoid).slots;
    }
    if (node.op <= ir::Op::Reduce || node.type.axes != axes)
        return 0;
    const ir::OpRow& row = row_of(node.op);
    const bool folds = row.shape != ir::ShapeRule::Elementwise &&
                       row.shape != ir::ShapeRule::Cross &&
                       row.shape != ir::ShapeRule::Outer &&
                       row.shape != ir::ShapeRule::Gather;
    const double terms =
        folds ? counting.turns(graph[node.operands[0]].type.rows) : 1;
    return components * terms * std::min(double(row.cost), counting.most);
}

/// Returns how many powers of two a pair takes: those of exponentials, and of
/// sums of them.
double powers_of(const ir::Graph& graph) {
    double powers = 0;
    for (const ir::Node& node : graph.nodes) {
        if (node.op == ir::Op::Reduce) {
            powers += family_of(node) == ir::MonoidFamily::Exponential;
        } else if (is_power_of_pairs(node)) {
            powers += std::max(1, node.type.rows);
        }
    }
    return powers;
}

double slots_of(const ir::Graph& graph, Axes axes, const Counting& counting) {
    double slots = 0;
    for (ir::ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op != ir::Op::Reduce || first_of_state(graph, id) == id)
            slots += slots_of(graph, graph[id], axes, counting);
    return slots;
}

/// By blocks, a product takes this share of the lanes' time: a quarter while
/// another thread keeps the core busy, a tenth where none does.
constexpr double block_share = 0.25;
/// Distances of which a filter computes few take this share: of D=64 on a Zen
/// 4, with all that a list takes, 0.8 (for D=128, 0.7), by the ports 0.5.
constexpr double filter_share = 0.75;

} // namespace

bool is_power_of_pairs(const ir::Node& node) {
    return node.type.axes == Axes::IJ &&
           (node.op == ir::Op::Exp || node.op == ir::Op::Exp2);
}

double nanoseconds_per_pair(const ir::Graph& graph, const Plan& plan) {
    // Three of a core's four vector pipes are kept busy at 4 GHz: a D = 3
    // Gaussian of 17 slots takes 0.072 ns on a Zen 5, by this model 0.09; on a
    // Zen 4 0.18.
    const double slots_per_nanosecond =
        row_of(plan.isa).ports == Ports::DoublePumped ? 6 : 12;
    // Without AVX-512's table and scaling a power takes more: a Zen 3 needs
    // 0.37 ns for that Gaussian, 1.35 in f64.
    const double without_table = graph.real == DType::F32 ? 18 : 46;
    double slots = 1 + slots_of(graph, Axes::IJ);
    if (!row_of(plan.isa).masks)
        slots += without_table * powers_of(graph);
    const Contractions contractions = choose_contractions(graph, plan);
    for (const auto& [id, way] : contractions.ways)
        if (id == contractions.filtered())
            slots -= (1 - filter_share) * slots_of(graph, graph[id], Axes::IJ);
        else if (way == Contraction::WordTiles ||
                 way == Contraction::LayerTiles)
            slots -= (1 - block_share) * slots_of(graph, graph[id], Axes::IJ);
    return slots / slots_per_nanosecond / plan.lanes;
}

double code_slots_of_pair(const ir::Graph& graph, const Plan& plan) {
    constexpr double most = 32; // of code, a call takes as much
    return slots_of(graph, Axes::IJ, {plan.unroll, most});
}

double nanoseconds_per_component(const ir::Graph& graph, const Plan& plan) {
    // A component takes an fma, or as much of a product of matrices.
    const IsaRow& isa = row_of(plan.isa);
    const double nanoseconds =
        1.0 / (isa.ports == Ports::DoublePumped ? 3 : 6) / plan.lanes;
    const std::size_t by_tiles =
        choose_contractions(graph, plan).weighed_by_tiles.size();
    return nanoseconds * std::pow(isa.blocks ? block_share : 0.5, by_tiles);
}

} // namespace tilefold
