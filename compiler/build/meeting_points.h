// compiler/build/meeting_points.h - what derivatives are where points meet.
//
// The slope of a root, g/2√s, and of an absolute value, g sign(a), are 0 at 0
// by the rules of ops.def, g being the adjoint of the root: a first derivative
// multiplies it by x - y = 0. Another one multiplies it by 1, and needs the
// limit. It is l'Hôpital's, ∂g/∂r at r = 0, where g is 0 there, as that of
// every function is which is smooth there: of Matérn's from 3/2 on, of
// Wendland's.
//
//  1. Where a function is not smooth, or the limit is not finite, it is 0: a
//     subgradient.
//  2. Whether g is 0 is seen up to rounding: it is small beside the terms that
//     cancel in it.
//  3. Nearer to 0 than their rounding allows, the limit stands for g/r, too.
//     The limit and that radius are of what r does not change, mostly of
//     parameters: computed once a call.
#pragma once

#include "compiler/build/expand.h"

#include <functional>

namespace tilefold {

/// Whether `op` has such a limit.
bool has_limit(ir::Op op);

/// Returns the derivative of `value` along `of`, whatever else that moves, or
/// no_value where it is zero.
using DerivativeAlong =
    std::function<ir::ValueId(ir::ValueId value, ir::ValueId of)>;

/// Returns what y = op(a) adds to the adjoint of a where another derivative
/// follows; `bound` names a, y and the adjoint g of y.
ir::ValueId slope_with_limit(ir::Builder& builder, ir::Op op, Bindings bound,
                             const DerivativeAlong& derivative);

} // namespace tilefold
