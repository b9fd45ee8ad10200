// compiler/ir/scalar.h - what an elementwise operation of ops.def means, on
// doubles: the reference for every backend, and how constants are folded.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::ir {

/// The result of `op`, an operation of ops.def with shape Elementwise. Truth
/// values are 0 and 1.
double evaluate(Op op, const double* operands);

/// Returns `base` to an integer power.
double evaluate_int_pow(double base, std::int64_t exponent);

} // namespace tilefold::ir
