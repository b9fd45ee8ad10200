// compiler/backends/cpu/in_place.h - which functions are no calls: plans and
// emitters ask the same list.
#pragma once

#include "compiler/ir/ir.h"

#include <algorithm>

namespace tilefold {

/// Whether vectors of an elementary function are computed where it stands, so
/// that a loop around it can be cut into stages. Those of float64 are calls.
inline bool is_in_place(ir::Op op, DType dtype) {
    using ir::Op;
    constexpr Op in_place[] = {Op::Log,  Op::Log2, Op::Log10, Op::Tanh,
                               Op::Erf,  Op::Pow,  Op::Expm1, Op::Sinh,
                               Op::Cosh, Op::Erfc, Op::Atan2};
    return dtype == DType::F32 && std::ranges::count(in_place, op) > 0;
}

} // namespace tilefold
