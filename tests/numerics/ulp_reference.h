// tests/numerics/ulp_reference.h - operations in double precision, many at
// once.
#pragma once

#include "compiler/ir/ir.h"

#include <span>

namespace tilefold::test {

/// wanted[k] = op(x[k], y[k]), y unused by an operation of one operand; within
/// 4 units in the last place of double. NaN and infinities as libm gives.
void evaluate_in_double(ir::Op op, std::span<const float> x,
                        std::span<const float> y, std::span<double> wanted);

} // namespace tilefold::test
