// formulas/keops_syntax.h - formulas in KeOps spelling, to the same AST.
//
// The second front end: `Exp(-SqDist(x,y)*g)*b` with the aliases "x = Vi(3)",
// "y = Vj(3)", "g = Pm(1)", "b = Vj(1)". It is called when aliases are given,
// never chosen by looking at a formula.
#pragma once

#include "formulas/ast.h"
#include "formulas/parser.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// What an alias, or `Var(0,3,0)` inside a formula, declares.
struct KeopsVariable {
    std::string name; ///< normalised; "arg0" where the formula gives none
    ast::Axes axes = ast::Axes::None; ///< Vi: I, Vj: J, Pm: None
    std::int64_t dimension = 1;
    std::size_t position = 0; ///< among the arguments of a call
};

/// How Genred reduces: the name of its reduction operation and its axis.
struct KeopsReduction {
    std::string operation; ///< "Sum", "LogSumExp" …; empty: the pair term
    ast::Axes axes = ast::Axes::J; ///< that disappear: axis=0 is I, axis=1 J
    std::string weights;           ///< KeOps' formula2; empty: none
    std::optional<std::int64_t> count; ///< KeOps' opt_arg: K of KMin, ArgKMin
};

struct KeopsFormula {
    /// Its text is the formula, followed by ", " and the weights if any.
    ast::Formula formula;
    std::vector<KeopsVariable> variables; ///< by position
};

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
