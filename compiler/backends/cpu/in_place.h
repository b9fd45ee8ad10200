// compiler/backends/cpu/in_place.h - which functions are no calls: plans and
// emitters ask the same list.
#pragma once

#include "compiler/ir/ir.h"

#include <algorithm>
#include <cmath>

namespace tilefold {

/// Whether vectors of an elementary function are computed where it stands, so
/// that a loop around it can be cut into stages.
inline bool is_in_place(ir::Op op, DType dtype) {
    using ir::Op;
    constexpr Op of_both[] = {Op::Sin,   Op::Cos,    Op::Log,  Op::Log2,
                              Op::Log10, Op::Log1p,  Op::Tanh, Op::Expm1,
                              Op::Sinh,  Op::Cosh,   Op::Erf,  Op::Erfc,
                              Op::Pow,   Op::Lgamma, Op::Atan, Op::Asin,
                              Op::Acos,  Op::Atan2,  Op::Tan};
    return (dtype == DType::F32 || dtype == DType::F64) &&
           std::ranges::count(of_both, op) > 0;
}

/// Whether vectors of a function of this order are: digamma, and J of the
/// orders -1, 0 and 1.
inline bool is_of_low_order(ir::Op op, double order) {
    return (op == ir::Op::Polygamma && order == 0) ||
           (op == ir::Op::BesselJ && (order == 0 || std::abs(order) == 1));
}

/// Whether vectors of the node's function are.
inline bool is_in_place(const ir::Graph& graph, const ir::Node& node) {
    const bool has_order =
        node.arity == 2 && graph[node.operands[0]].op == ir::Op::Constant;
    return is_in_place(node.op, node.type.dtype) ||
           (has_order &&
            is_of_low_order(node.op, graph[node.operands[0]].value));
}

} // namespace tilefold
