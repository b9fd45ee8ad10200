// compiler/passes/signs.cpp - the sign of every value, whatever the arguments.
// A value may also be NaN.

#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace tilefold::ir {
namespace {

Sign negated(Sign sign) {
    switch (sign) {
    case Sign::Unknown:
        return Sign::Unknown;
    case Sign::NonNegative:
    case Sign::Unit:
        return Sign::NonPositive;
    case Sign::NonPositive:
        return Sign::NonNegative;
    }
    return Sign::Unknown;
}

/// What is left of it where the size may be another.
Sign of_any_size(Sign sign) {
    return sign == Sign::Unit ? Sign::NonNegative : sign;
}

Sign sum(Sign a, Sign b) {
    return of_any_size(a) == of_any_size(b) ? of_any_size(a) : Sign::Unknown;
}

Sign product(Sign a, Sign b) {
    if (a == Sign::Unknown || b == Sign::Unknown)
        return Sign::Unknown;
    return is_nonnegative(a) == is_nonnegative(b) ? Sign::NonNegative
                                                  : Sign::NonPositive;
}

Sign of_constant(double value) {
    if (value >= 0)
        return Sign::NonNegative;
    return value <= 0 ? Sign::NonPositive : Sign::Unknown;
}

Sign of_argument(const Argument& argument) {
    const DTypeKind kind = kind_of(argument.dtype);
    return kind == DTypeKind::Unsigned || kind == DTypeKind::Truth
               ? Sign::NonNegative
               : Sign::Unknown;
}

Sign of_operation(const Node& node, Sign a, Sign b) {
    switch (row_of(node.op).range) {
    case RangeRule::Any:
        return Sign::Unknown;
    case RangeRule::NonNegative:
        return Sign::NonNegative;
    case RangeRule::Odd:
        return of_any_size(a);
    case RangeRule::Sum:
        return sum(a, b);
    case RangeRule::Product:
        return product(a, b);
    case RangeRule::Negated:
        return negated(a);
    }
    return Sign::Unknown;
}

/// An empty range gives the identity: -inf for a maximum, inf for a minimum.
Sign of_reduction(const Node& node, Sign first, Sign last) {
    switch (Reduction(node.first)) {
    case Reduction::Sum:
    case Reduction::Mean:
    case Reduction::SoftMax:
        return of_any_size(last);
    case Reduction::Max:
        return first == Sign::NonPositive ? first : Sign::Unknown;
    case Reduction::Prod:
    case Reduction::Min:
    case Reduction::KMin:
        return is_nonnegative(first) ? Sign::NonNegative : Sign::Unknown;
    case Reduction::Any:
    case Reduction::All:
    case Reduction::Count:
        return Sign::NonNegative;
    case Reduction::ArgMax:
    case Reduction::ArgMin:
    case Reduction::LogSumExp:
    case Reduction::ArgKMin:
    case Reduction::Fold:
        return Sign::Unknown;
    }
    return Sign::Unknown;
}

} // namespace

Sign sign_of(const Graph& graph, ValueId id, const std::vector<Sign>& known) {
    const Node& node = graph[id];
    const Sign first = node.arity > 0 ? known[node.operands[0]] : Sign::Unknown;
    const Sign last =
        node.arity > 0 ? known[node.operands[node.arity - 1]] : Sign::Unknown;
    switch (node.op) {
    case Op::Argument:
        return of_argument(graph.arguments[std::size_t(node.first)]);
    case Op::Literal: // a minus before it is an operation
        return Sign::NonNegative;
    case Op::Constant:
        return of_constant(node.value);
    case Op::Index:
    case Op::Iota:
        return Sign::NonNegative;
    case Op::IntPow:
        return node.first % 2 == 0 ? Sign::NonNegative : of_any_size(first);
    case Op::Exp:
    case Op::Exp2:
        return first == Sign::NonPositive ? Sign::Unit : Sign::NonNegative;
    case Op::Slice:
    case Op::Submatrix:
    case Op::Broadcast:
        return first;
    case Op::Concat:
        return sum(first, last);
    case Op::Reduce:
        return of_reduction(node, first, last);
    case Op::Where:
        return sum(known[node.operands[1]], last);
    default:
        return of_operation(node, first, last);
    }
}

std::vector<Sign> signs(const Graph& graph) {
    std::vector<Sign> known;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        known.push_back(sign_of(graph, id, known));
    return known;
}

} // namespace tilefold::ir
