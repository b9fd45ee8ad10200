// compiler/passes/dynamic_width.cpp - finds the argument whose width need not
// be known when a formula is compiled, such as b in `sum_j k(x_i, y_j) b_j`.
//
//  1. It is a vector read on the reduced axis only, and the result is on the
//     kept axis.
//  2. Every value made from it, inside a reduction, is its product or
//     quotient with a scalar, or its negative, and ends as the body of a sum
//     or a mean or as the value of a softmax.
//  3. After the reductions, its values meet only scalars and each other.
// Then no code depends on the width, but for one loop over components.

#include "compiler/passes/dynamic_width.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

/// Follows the values made from one argument.
class WidthAnalysis {
public:
    WidthAnalysis(const Graph& graph, std::size_t argument)
        : graph_(graph), argument_(argument), state_(graph.nodes.size()) {}

    bool holds() {
        for (ValueId id = 0; id < graph_.nodes.size(); ++id)
            if (!follow(id))
                return false;
        return state_[graph_.result] == State::After;
    }

private:
    enum class State : std::uint8_t { Free, Inside, After };

    bool follow(ValueId id) {
        const Node& node = graph_[id];
        if (node.op == Op::Argument && std::size_t(node.first) == argument_) {
            state_[id] = State::Inside;
            return true;
        }
        const auto inputs = node.inputs();
        const auto touched = [&](ValueId input) {
            return state_[input] != State::Free;
        };
        if (std::ranges::none_of(inputs, touched))
            return true;
        if (node.op == Op::Reduce)
            return follow_reduction(id);
        const bool after = std::ranges::any_of(inputs, [&](ValueId input) {
            return state_[input] == State::After;
        });
        state_[id] = after ? State::After : State::Inside;
        return after ? is_componentwise(node) : is_scaling(node);
    }

    bool follow_reduction(ValueId id) {
        const Node& node = graph_[id];
        const auto reduction = ir::Reduction(node.first);
        const bool linear =
            reduction == ir::Reduction::Sum || reduction == ir::Reduction::Mean;
        const bool value = reduction == ir::Reduction::SoftMax &&
                           state_[node.operands[0]] == State::Free;
        state_[id] = State::After;
        return (linear || value) &&
               graph_.arguments[argument_].axes == Axes(node.second);
    }

    bool is_scalar(ValueId id) const { return graph_[id].type.rank == 0; }

    bool is_scaling(const Node& node) const {
        switch (node.op) {
        case Op::Neg:
            return true;
        case Op::Mul:
            return is_scalar(node.operands[0]) || is_scalar(node.operands[1]);
        case Op::Div:
            return is_scalar(node.operands[1]);
        default:
            return false;
        }
    }

    bool is_componentwise(const Node& node) const {
        if (!ir::is_elementwise(node.op))
            return false;
        return std::ranges::all_of(node.inputs(), [&](ValueId input) {
            return is_scalar(input) || state_[input] == State::After;
        });
    }

    const Graph& graph_;
    std::size_t argument_;
    std::vector<State> state_;
};

bool may_be_dynamic(const Graph& graph, std::size_t argument) {
    const ir::Argument& candidate = graph.arguments[argument];
    return candidate.rank == 1 && graph[graph.result].type.axes != Axes::None &&
           (candidate.axes == Axes::I || candidate.axes == Axes::J) &&
           WidthAnalysis(graph, argument).holds();
}

} // namespace

Graph with_width(Graph graph, std::size_t argument, std::int32_t rows) {
    graph.arguments[argument].rows = rows;
    ir::Builder builder(graph.real);
    const std::vector<ValueId> made = builder.rebuild(graph);
    Graph widened = builder.finish(made[graph.result]);
    widened.is_unsigned = graph.is_unsigned;
    return widened;
}

Graph widen_linear_argument(const Graph& graph) {
    for (std::size_t k = 0; k < graph.arguments.size(); ++k)
        if (may_be_dynamic(graph, k))
            return with_width(graph, k, dynamic);
    return graph;
}

} // namespace tilefold
