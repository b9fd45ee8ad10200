// compiler/ir/conform.h - values as others are: with their components, added.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::ir {

/// a + b; no_value is nothing.
ValueId plus(Builder& builder, ValueId a, ValueId b);

/// `value` with the components of `type`: repeated, or summed to a scalar.
ValueId conform(Builder& builder, ValueId value, Type type);

} // namespace tilefold::ir
