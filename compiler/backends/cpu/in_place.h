// compiler/backends/cpu/in_place.h - which functions are no calls: plans and
// emitters ask the same list.
#pragma once

#include "compiler/ir/ir.h"

#include <algorithm>

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

} // namespace tilefold
