// compiler/build/composites.h - operations that are computed by others.
#pragma once

#include "compiler/ir/ir.h"

#include <span>

namespace tilefold {

/// Whether the operation is a row of composites.def: kernels have no such
/// operation.
bool is_composite(ir::Op op);

/// Expands the formula of a row of composites.def at these operands.
ir::ValueId expand_composite(ir::Builder& builder, ir::Op op,
                             std::span<const ir::ValueId> operands, Span span);

/// Returns the graph with the formulas of composites.def in the place of their
/// operations, in the functions of its folds too, and with weighted logsumexps
/// of which scores without a weight are -inf.
ir::Graph lower_composites(const ir::Graph& graph);

} // namespace tilefold
