// compiler/build/rules.h - the rules of differentiation in ops.def and
// reductions.def, parsed.
#pragma once

#include "compiler/ir/ir.h"
#include "formulas/ast.h"

#include <cstdint>
#include <vector>

namespace tilefold {

/// What an operand adds to a derivative: a formula, nothing, or something that
/// has no formula.
struct Rule {
    enum class Kind : std::uint8_t { Formula, Zero, None };
    Kind kind = Kind::Zero;
    ast::Formula formula;
};
using Rules = std::vector<Rule>; ///< for each operand

const Rules& partials_of(ir::Op op); ///< an operation of ops.def
const Rules& tangents_of(ir::Op op);
/// Whether an operation's value does not move with an operand, whatever it is.
bool adds_nothing(ir::Op op, std::size_t operand);
bool has_rules(ir::Reduction reduction); ///< false: it is not differentiated
const Rules& adjoints_of(ir::Reduction reduction);
const Rules& tangents_of(ir::Reduction reduction);

} // namespace tilefold
