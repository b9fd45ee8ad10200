// formulas/keops_syntax.h - formulas in KeOps spelling, to the same AST.
//
// The second front end: `Exp(-SqDist(x,y)*g)*b` with the aliases "x = Vi(3)",
// "y = Vj(3)", "g = Pm(1)", "b = Vj(1)". It is called when aliases are given,
// never chosen by looking at a formula.
#pragma once

#include "formulas/keops_formula.h"
#include "formulas/vocabulary.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// Parses `formula`; each variable of the aliases becomes an ast Variable on
/// its axis, or a Name. Throws Error with a caret for what has no equivalent.
KeopsFormula parse_keops(std::string_view formula,
                         std::span<const std::string> aliases,
                         const KeopsReduction& reduction,
                         const Vocabulary& vocabulary);

/// The declaration in one alias, "x = Vi(3)" or "x = Var(0, 3, 0)"; `order`
/// is its position where the alias does not give one.
KeopsVariable parse_keops_alias(std::string_view alias, std::size_t order);

} // namespace tilefold
