// compiler/backends/cuda/plan/model.cpp - see model.h.

#include "compiler/backends/cuda/plan/model.h"

#include "compiler/backends/cuda/plan/model_tiles.h"
#include "compiler/backends/cuda/sites/bounded.h"
#include "compiler/backends/cuda/sites/registers.h"
#include "compiler/backends/cuda/text/instructions.h"
#include "compiler/passes/split.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace tilefold::cuda {
namespace {

using ir::Node;
using ir::Op;
using ir::ValueId;

/// Returns how often the operation's instructions are needed.
double times(const ir::Graph& graph, const Node& node) {
    const auto size = [&](std::size_t operand) {
        return double(components_of(graph[node.operands[operand]].type));
    };
    if (node.op == Op::IntPow) // squarings, and half as many products
        return double(components_of(node.type)) *
               std::ceil(1.5 * std::log2(std::max<double>(
                                   2, double(std::abs(node.first)))));
    if (!ir::has_row(node.op))
        return double(components_of(node.type));
    switch (row_of(node.op).shape) {
    case ir::ShapeRule::Contract:
    case ir::ShapeRule::Contract1:
        return size(0);
    case ir::ShapeRule::MatVec:
    case ir::ShapeRule::VecMat:
        return std::max(size(0), size(1));
    case ir::ShapeRule::Elementwise:
    case ir::ShapeRule::Cross:
    case ir::ShapeRule::Outer:
    case ir::ShapeRule::Gather:
        break;
    }
    return double(components_of(node.type));
}

/// Says which values are products that a sum takes into one instruction.
std::vector<bool> fused(const ir::Graph& graph, const Split& split) {
    std::vector<int> uses(graph.nodes.size());
    std::vector<bool> into_sums(graph.nodes.size());
    for (ValueId id : split.pair) {
        const Node& node = graph[id];
        const bool adds =
            node.op == Op::Add || node.op == Op::Sub ||
            (node.op == Op::Reduce &&
             row_of(ir::Reduction(node.first)).monoid == ir::Monoid::Add);
        for (ValueId operand : node.inputs()) {
            ++uses[operand];
            into_sums[operand] =
                adds && graph[operand].op == Op::Mul && uses[operand] == 1;
        }
    }
    return into_sums;
}

class Counter {
public:
    Counter(const ir::Graph& graph, PairCost& cost)
        : graph_(graph), cost_(cost) {}

    /// `elsewhere` are values that the loops compute themselves, or seldom.
    void add_pairs(const std::vector<ValueId>& elsewhere = {}) {
        const Split parts = split(graph_);
        const std::vector<bool> is_fused = fused(graph_, parts);
        for (ValueId id : parts.pair)
            if (!is_fused[id] && !std::ranges::count(elsewhere, id))
                add(graph_[id]);
    }

    /// Adds what points take that are met once.
    void add_points() {
        for (const Node& node : graph_.nodes)
            if (node.type.axes == Axes::I || node.op == Op::Reduce)
                add(node);
        for (const ir::Argument& argument : graph_.arguments)
            if (argument.axes == Axes::I)
                cost_.bytes += double(argument.rows) * argument.columns *
                               double(size_of(argument.dtype));
    }

private:
    void add(const Node& node) {
        if (node.op == Op::Reduce)
            return add_reduction(node);
        Instructions each = instructions_of(node.op);
        if (node.op == Op::IntPow)
            each = instructions_of(Op::Mul);
        add(each, times(graph_, node), node.type.dtype);
    }

    void add_reduction(const Node& node) {
        const Node& term = graph_[node.operands[node.arity > 1 ? 1 : 0]];
        const ir::Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
        if (monoid == ir::Monoid::UserDefined) {
            Counter inside(node.fold->accumulate, cost_);
            for (const Node& each : node.fold->accumulate.nodes)
                inside.add(each);
            return;
        }
        const double components = double(components_of(
            monoid == ir::Monoid::SoftMax ? term.type
                                          : graph_[node.operands[0]].type));
        const Instructions each = instructions_of_term(monoid);
        add(each, 1, graph_.real);
        add(instructions_of_term(ir::Monoid::Add), components - 1, graph_.real);
    }

    void add(const Instructions& each, double count, DType dtype) {
        const bool is_64_bit = dtype == DType::F64 || dtype == DType::I64;
        const double issued = is_64_bit ? each.twice : each.single;
        cost_.single += count * issued;
        if (is_64_bit)
            cost_.wide += count * each.wide;
        else
            cost_.special += count * each.special;
    }

    const ir::Graph& graph_;
    PairCost& cost_;
};

/// Returns values that few pairs compute: those that a bound lets pass.
std::vector<ValueId> rare(const ir::Graph& graph) {
    std::vector<ValueId> values;
    for (const Node& node : graph.nodes)
        if (node.op == Op::Reduce && has_bound(node))
            values.push_back(node.operands[0]);
    return values;
}

/// Finding a point takes so many, with its share of making the states of
/// threads one.
constexpr double instructions_of_point = 24;

} // namespace

PairCost cost_of_pair(const ir::Graph& graph, const Plan& plan) {
    const Registers registers = place_registers(
        of_width(graph, plan.width_block),
        {plan.multiply != Multiply::Alone, plan.uses_value_matmul()});
    PairCost cost;
    if (plan.lanes == Lanes::Points) {
        Counter(registers.graph, cost).add_points();
        cost.overhead = instructions_of_point;
        return cost;
    }
    std::vector<ValueId> elsewhere = computed_by_tiles(registers);
    std::ranges::copy(rare(registers.graph), std::back_inserter(elsewhere));
    Counter(registers.graph, cost).add_pairs(elsewhere);
    if (registers.product || registers.wide) {
        add_tiles(registers, plan, cost);
        return cost;
    }
    if (registers.reductions.empty()) {
        const Type& type = registers.graph[registers.graph.result].type;
        cost.bytes = double(components_of(type)) * double(size_of(type.dtype));
        return cost;
    }
    constexpr double bytes_of_load = 16, instructions_of_loop = 3;
    const double rows = plan.rows_per_thread;
    const double column =
        std::ceil(double(registers.column.record.bytes()) / bytes_of_load);
    cost.overhead =
        column / rows + instructions_of_loop / (rows * plan.columns_unrolled);
    return cost;
}

double PairCost::rate(const Card& card, bool with_overhead) const {
    const double clocks = std::max(
        {(single + (with_overhead ? overhead : 0)) / card.instructions,
         special / card.special, wide / card.wide,
         with_overhead ? shared / card.shared : 0,
         tensor / card.tensor / (with_overhead ? card.tensor_share : 1),
         1 / card.instructions});
    const double computed = card.multiprocessors * card.hertz / clocks;
    return bytes > 0 ? std::min(computed, card.bytes / bytes) : computed;
}

std::string print(const PairCost& cost, const Card& card) {
    char text[400];
    const double expected = cost.rate(card, true);
    const double limit = cost.rate(card, false);
    std::snprintf(text, sizeof text,
                  "  %.1f instructions a pair by the formula (%.1f of the "
                  "special function unit, %.1f in double, %.1f of tensor "
                  "cores), %.1f for columns and loops\n"
                  "  %.2g pairs/s, %.2f of the %.2g that the formula's own "
                  "instructions%s allow; not measured\n",
                  cost.single, cost.special, cost.wide, cost.tensor,
                  cost.overhead, expected, expected / limit, limit,
                  cost.bytes > 0 ? " and its memory" : "");
    return text;
}

} // namespace tilefold::cuda
