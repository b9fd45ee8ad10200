// compiler/ir/broadcast.h - values as others are: with their components, added.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::ir {

/// Returns a + b, where no_value stands for zero.
ValueId plus(Builder& builder, ValueId a, ValueId b);

/// Returns `value` with the components of `type`: a scalar is repeated, a
/// vector is summed to a scalar.
ValueId broadcast_or_reduce(Builder& builder, ValueId value, Type type);

} // namespace tilefold::ir
