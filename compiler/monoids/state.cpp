// compiler/monoids/state.cpp - see state.h.

#include "compiler/monoids/state.h"

#include <algorithm>
#include <limits>

namespace tilefold {

using ir::Monoid;

namespace {

/// Returns the name of the field of a monoid that has one accumulator a
/// component.
std::string_view name_of(Monoid monoid) {
    switch (monoid) {
    case Monoid::Multiply:
        return "product";
    case Monoid::Maximum:
        return "maximum";
    case Monoid::Minimum:
        return "minimum";
    default:
        return "sum";
    }
}

} // namespace

double identity_of(Monoid monoid, bool is_truth) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (monoid) {
    case Monoid::Add:
        return 0;
    case Monoid::Multiply:
        return 1;
    case Monoid::Maximum:
    case Monoid::ArgMaximum:
    case Monoid::LogSumExp:
    case Monoid::SoftMax:
        return is_truth ? 0 : -infinity;
    case Monoid::Minimum:
    case Monoid::ArgMinimum:
        return is_truth ? 1 : infinity;
    case Monoid::KMinimum: // an empty place, at -1
    case Monoid::UserDefined:
        return std::numeric_limits<double>::quiet_NaN();
    }
    internal_error("a monoid without an identity");
}

/// Truth values are counted in the computing dtype; integers stay integers.
DType accumulated_dtype(const ir::Graph& graph, const ir::Node& reduce) {
    switch (row_of(ir::Reduction(reduce.first)).monoid) {
    case Monoid::Add:
    case Monoid::Multiply:
    case Monoid::Maximum:
    case Monoid::Minimum:
        return graph[reduce.operands[0]].type.dtype == DType::Bool
                   ? graph.real
                   : reduce.type.dtype;
    default:
        return graph.real;
    }
}

std::vector<StateField> state_of(const ir::Graph& graph,
                                 const ir::Node& reduce) {
    const Monoid monoid = row_of(ir::Reduction(reduce.first)).monoid;
    const double identity =
        identity_of(monoid, reduce.type.dtype == DType::Bool);
    const auto field = [&](std::string_view name, DType dtype, int operand,
                           double start) -> StateField {
        const Type& type = graph[reduce.operands[std::size_t(operand)]].type;
        return {name, dtype, components_of(type), start, type.rank > 0};
    };
    switch (monoid) {
    case Monoid::Add:
    case Monoid::Multiply:
    case Monoid::Maximum:
    case Monoid::Minimum: {
        const bool whole = accumulated_dtype(graph, reduce) == DType::I64;
        return {field(name_of(monoid), whole ? DType::I64 : DType::F64, 0,
                      identity)};
    }
    case Monoid::ArgMaximum:
    case Monoid::ArgMinimum:
        return {field("best", DType::F64, 0, identity),
                field("index", DType::I64, 0, -1)};
    case Monoid::LogSumExp:
    case Monoid::SoftMax: {
        std::vector<StateField> fields{{"maximum", DType::F64, 1, identity},
                                       {"weight", DType::F64, 1, 0}};
        if (monoid == Monoid::SoftMax)
            fields.push_back(field("sum", DType::F64, 1, 0));
        return fields;
    }
    case Monoid::KMinimum:
        return {{"value", DType::F64, reduce.third, identity, true},
                {"index", DType::I64, reduce.third, -1, true}};
    case Monoid::UserDefined:
        return {{"folded", DType::F64,
                 components_of(graph[reduce.operands[1]].type), 0, true}};
    }
    internal_error("a monoid without a state");
}

ir::ValueId first_of_state(const ir::Graph& graph, ir::ValueId reduce) {
    const ir::Node& node = graph[reduce];
    const auto monoid_of = [](const ir::Node& of) {
        return row_of(ir::Reduction(of.first)).monoid;
    };
    if (monoid_of(node) == Monoid::UserDefined)
        return reduce;
    for (ir::ValueId id = 0; id < reduce; ++id) {
        const ir::Node& other = graph[id];
        if (other.op == ir::Op::Reduce && monoid_of(other) == monoid_of(node) &&
            other.second == node.second && other.third == node.third &&
            other.pairs == node.pairs &&
            std::ranges::equal(other.inputs(), node.inputs()) &&
            accumulated_dtype(graph, other) == accumulated_dtype(graph, node) &&
            state_of(graph, other) == state_of(graph, node))
            return id;
    }
    return reduce;
}

} // namespace tilefold
