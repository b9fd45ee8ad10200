// compiler/backends/cuda/sites/reductions.cpp - the members of a Partial and of
// a State, by monoid.

#include "compiler/backends/cuda/sites/reductions.h"

#include "compiler/backends/cuda/sites/bounded.h"
#include "compiler/ir/queries.h"

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;

/// The classes of monoids/ read them by their places in these lists.
std::vector<PartialField> partial_of(const Graph& graph, const Node& reduce,
                                     const std::vector<StateField>& state) {
    const Kind real = kind_of_value(graph.real);
    const StateField& first = state.front();
    switch (ir::family_of(reduce)) {
    case ir::MonoidFamily::Plain:
        return {{first.name, kind_of_value(accumulated_dtype(graph, reduce)),
                 length_of(first)}};
    case ir::MonoidFamily::Location:
        return {{first.name, real, length_of(first)},
                {"column", Kind::Int, length_of(state.back())}};
    case ir::MonoidFamily::Exponential: {
        std::vector<PartialField> fields;
        for (const StateField& field : state)
            fields.push_back({field.name, real, length_of(field)});
        return fields;
    }
    case ir::MonoidFamily::List:
        return {{first.name, real, reduce.third},
                {"column", Kind::Int, reduce.third},
                {"changed", Kind::Truth}};
    case ir::MonoidFamily::UserDefined:
        return {{first.name, real, length_of(first)}};
    }
    __builtin_unreachable();
}

} // namespace

std::int64_t length_of(const StateField& field) {
    return field.is_vector ? field.components : 0;
}

LoweredReduction lower_reduction(const Graph& graph, ir::ValueId id,
                                 Record& partial, Record& state) {
    LoweredReduction lowered;
    lowered.id = id;
    lowered.state = state_of(graph, graph[id]);
    lowered.partial = partial_of(graph, graph[id], lowered.state);
    lowered.first_state = state.fields().size();
    lowered.first_partial = partial.fields().size();
    lowered.is_filtered = has_bound(graph[id]);
    for (const StateField& field : lowered.state)
        state.add(field.name,
                  field.dtype == DType::I64 ? Kind::Long : Kind::Double,
                  length_of(field));
    for (const PartialField& field : lowered.partial)
        partial.add(field.name, field.kind, field.length);
    return lowered;
}

} // namespace tilefold::cuda
