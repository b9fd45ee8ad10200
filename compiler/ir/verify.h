// compiler/ir/verify.h - the invariants of ir.h, checked.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::ir {

/// Throws InternalError naming the first broken invariant of ir.h.
void verify(const Graph& graph);

} // namespace tilefold::ir
