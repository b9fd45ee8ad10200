// compiler/composites.h - operations that are computed by others.
#pragma once

#include "compiler/ir.h"
#include "formulas/ast.h"

namespace tilefold {

/// Of a row of composites.def, its formula of a and b; null for operations
/// that kernels have.
const ast::Formula* find_composite(ir::Op op);

/// The graph with the formulas of composites.def in the place of their
/// operations, in the functions of its folds too.
ir::Graph lower_composites(const ir::Graph& graph);

} // namespace tilefold
