// compiler/ir/verify.h - the invariants of ir.h, checked.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::ir {

/// Throws InternalError naming the first broken invariant of ir.h.
void verify(const Graph& graph);

/// Calls verify() between passes, in debug builds only.
inline void verify_if_debug([[maybe_unused]] const Graph& graph) {
#ifndef NDEBUG
    verify(graph);
#endif
}

} // namespace tilefold::ir
