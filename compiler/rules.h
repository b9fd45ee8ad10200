// compiler/rules.h - the rules of differentiation in ops.def and
// reductions.def, parsed.
#pragma once

#include "compiler/ir.h"
#include "formulas/ast.h"

#include <optional>
#include <vector>

namespace tilefold {

/// For each operand a formula; nothing where it adds nothing.
using Rules = std::vector<std::optional<ast::Formula>>;

const Rules& partials_of(ir::Op op); ///< an operation of ops.def
const Rules& tangents_of(ir::Op op);
bool has_rules(ir::Reduction reduction); ///< false: it is not differentiated
const Rules& adjoints_of(ir::Reduction reduction);
const Rules& tangents_of(ir::Reduction reduction);

} // namespace tilefold
