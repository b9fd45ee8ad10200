// compiler/monoids/state.cpp - see state.h.

#include "compiler/monoids/state.h"

#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold {

using ir::Monoid;
using ir::MonoidFamily;

double identity_of(Monoid monoid, bool is_truth) {
    const double identity = row_of(monoid).identity;
    return is_truth ? std::clamp(identity, 0.0, 1.0) : identity;
}

/// Truth values are counted in the computing dtype; integers stay integers.
DType accumulated_dtype(const ir::Graph& graph, const ir::Node& reduce) {
    const bool is_truth = graph[reduce.operands[0]].type.dtype == DType::Bool;
    return family_of(reduce) != MonoidFamily::Plain || is_truth
               ? graph.real
               : reduce.type.dtype;
}

std::vector<StateField> state_of(const ir::Graph& graph,
                                 const ir::Node& reduce) {
    const Monoid monoid = row_of(ir::Reduction(reduce.first)).monoid;
    const ir::MonoidRow& row = row_of(monoid);
    const double identity =
        identity_of(monoid, reduce.type.dtype == DType::Bool);
    const auto field = [&](std::string_view name, DType dtype, int operand,
                           double start) -> StateField {
        const Type& type = graph[reduce.operands[std::size_t(operand)]].type;
        return {name, dtype, components_of(type), start, type.rank > 0};
    };
    switch (row.family) {
    case MonoidFamily::Plain: {
        const bool whole = accumulated_dtype(graph, reduce) == DType::I64;
        return {field(row.field, whole ? DType::I64 : DType::F64, 0, identity)};
    }
    case MonoidFamily::Location:
        return {field(row.field, DType::F64, 0, identity),
                field("index", DType::I64, 0, -1)};
    case MonoidFamily::Exponential: {
        std::vector<StateField> fields{{row.field, DType::F64, 1, identity},
                                       {"weight", DType::F64, 1, 0}};
        if (monoid == Monoid::SoftMax)
            fields.push_back(field("sum", DType::F64, 1, 0));
        return fields;
    }
    case MonoidFamily::List:
        return {{row.field, DType::F64, reduce.third, identity, true},
                {"index", DType::I64, reduce.third, -1, true}};
    case MonoidFamily::UserDefined:
        return {{row.field, DType::F64,
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
