// compiler/backends/cpu/lower/operands.cpp - see operands.h.

#include "compiler/backends/cpu/lower/operands.h"

#include "compiler/ir/queries.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace tilefold {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

/// Places the operands of one axis, one after the other.
class Placing {
public:
    Placing(const Graph& graph, const Plan& plan,
            const Contractions& contractions, Operands& operands, Arena& arena)
        : graph_(graph), plan_(plan), contractions_(contractions),
          operands_(operands), arena_(arena) {
        if (operands.order == OperandOrder::Points)
            find_readers();
    }

    /// Values of dynamic width come last: an argument, and what is made of it
    /// once a point. Each begins where the ones before it end at the call's
    /// width.
    void run() {
        for (const bool dynamic_ones : {false, true})
            for (const auto* list :
                 {&operands_.values.leaves, &operands_.values.computed})
                for (ValueId id : *list)
                    if ((graph_[id].type.rows == dynamic) == dynamic_ones)
                        place(id);
    }

private:
    void place(ValueId id) {
        Operand& operand = operands_.of[id];
        operand.order = order_of(id);
        operand.dtype = packed_dtype(graph_, contractions_, id);
        operand.place = arena_.end();
        const auto size = std::int64_t(size_of(operand.dtype));
        operand.component = operand.order == OperandOrder::Points ? size
                            : operand.order == OperandOrder::Tiles
                                ? operands_.tile * size
                                : operands_.capacity * size;
        if (graph_[id].type.rows == dynamic)
            take_dynamic(operand, size);
        else
            arena_.take(bytes_of(id, operand, size), line_bytes);
    }

    void take_dynamic(const Operand& operand, std::int64_t size) {
        arena_.take_per_width(operands_.capacity * size);
        if (operand.order == OperandOrder::Points)
            arena_.take(operands_.capacity * operands_.run_multiple(size));
    }

    /// Sets the run, too.
    std::int64_t bytes_of(ValueId id, Operand& operand, std::int64_t size) {
        const Words* words = contractions_.words_of(id);
        const std::int64_t components =
            words ? words->packed() : components_of(graph_[id].type);
        switch (operand.order) {
        case OperandOrder::Components:
            return operands_.capacity * size * components;
        case OperandOrder::Tiles:
            operand.run = operand.component * components;
            return round_up(operands_.capacity, operands_.tile) /
                   operands_.tile * operand.run;
        case OperandOrder::Points:
            operand.run =
                round_up(components * size, operands_.run_multiple(size));
            return operands_.capacity * operand.run;
        }
        return 0;
    }

    /// Points lie one after the other only where lanes need not run over them.
    OperandOrder order_of(ValueId id) const {
        const Type& type = graph_[id].type;
        const bool open = type.rows == dynamic;
        if (open ? operands_.order == OperandOrder::Tiles
                 : components_of(type) <= plan_.unroll)
            return OperandOrder::Components;
        if (operands_.order != OperandOrder::Points)
            return operands_.order;
        const bool is_leaf =
            std::ranges::count(operands_.values.leaves, id) > 0;
        return read_by_points_[id] &&
                       (is_leaf || is_by_component(graph_, id, plan_.unroll))
                   ? OperandOrder::Points
                   : OperandOrder::Components;
    }

    /// Finds the values that pairs or reductions read, or vectors that are
    /// computed point by point and so read themselves. What is left is read by
    /// lanes of points alone, which would gather it: a vector that only a
    /// matrix is multiplied by.
    void find_readers() {
        read_by_points_.assign(graph_.nodes.size(), false);
        read_by_points_[graph_.result] = true;
        for (ValueId id = ValueId(graph_.nodes.size()); id-- > 0;) {
            const Node& user = graph_[id];
            if (user.op == Op::Reduce || user.type.axes != operands_.axis ||
                (read_by_points_[id] &&
                 is_by_component(graph_, id, plan_.unroll)))
                for (ValueId operand : user.inputs())
                    read_by_points_[operand] = true;
        }
    }

    const Graph& graph_;
    const Plan& plan_;
    const Contractions& contractions_;
    Operands& operands_;
    Arena& arena_;
    std::vector<bool> read_by_points_;
};

} // namespace

std::string_view spelling_of(OperandOrder order) {
    constexpr std::string_view spellings[] = {"by components", "by tiles",
                                              "by points"};
    return spellings[std::size_t(order)];
}

bool Operands::is_by_components() const {
    return std::ranges::all_of(of, [](const auto& operand) {
        return operand.second.order == OperandOrder::Components;
    });
}

std::int64_t Operands::run_multiple(std::int64_t element_bytes) const {
    return std::max(line_bytes, lanes * element_bytes);
}

Packed with_layers(const Graph& graph, const Contractions& contractions,
                   Packed packed, Axes axis) {
    std::set<ValueId> computed(packed.computed.begin(), packed.computed.end());
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        if (graph[id].type.axes != axis || !seen.insert(id).second)
            return;
        if (contractions.layers.count(id) > 0)
            computed.insert(id);
        std::ranges::for_each(graph[id].inputs(), walk);
    };
    std::ranges::for_each(packed.computed, walk);
    packed.computed.assign(computed.begin(), computed.end());
    return packed;
}

Packed without_truths(const Graph& graph, Packed packed) {
    std::set<ValueId> computed;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        const Node& node = graph[id];
        if (node.type.axes == Axes::None ||
            std::ranges::count(packed.leaves, id) > 0)
            return;
        if (node.type.dtype == DType::Bool && node.type.rank == 0 &&
            ir::is_elementwise(node.op))
            std::ranges::for_each(node.inputs(), walk);
        else
            computed.insert(id);
    };
    std::ranges::for_each(packed.computed, walk);
    packed.computed.assign(computed.begin(), computed.end());
    return packed;
}

DType constant_dtype(const Graph& graph, const Placement& placement,
                     ValueId id) {
    const Type& type = graph[id].type;
    if (type.dtype == DType::I64)
        return DType::I64;
    const bool is_rounded = type.rank > 0 && type.dtype == DType::F64 &&
                            placement.exact.count(id) == 0;
    return is_rounded ? graph.real : DType::F64;
}

DType packed_dtype(const Graph& graph, const Contractions& contractions,
                   ValueId id) {
    const Node& node = graph[id];
    if (contractions.words_of(id))
        return DType::F32;
    if (node.op != Op::Argument || node.type.dtype != DType::I64 ||
        size_of(graph.arguments[std::size_t(node.first)].dtype) > 2)
        return node.type.dtype;
    const bool may_be_real =
        std::ranges::all_of(graph.nodes, [&](const Node& user) {
            return std::ranges::count(user.inputs(), id) == 0 ||
                   (has_row(user.op) &&
                    row_of(user.op).result == ir::ResultRule::Compare) ||
                   (ir::is_contraction(user.op) &&
                    user.type.dtype == DType::F32);
        });
    return may_be_real && graph.result != id ? graph.real : node.type.dtype;
}

void place_operands(const Graph& graph, const Plan& plan,
                    const Contractions& contractions, Operands& operands,
                    Arena& arena) {
    operands.capacity = round_up(operands.capacity, line_bytes);
    operands.lanes = plan.lanes;
    Placing(graph, plan, contractions, operands, arena).run();
}

} // namespace tilefold
