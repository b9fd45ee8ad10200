// formulas/keops_formula.h - what a formula in KeOps spelling comes with, and
// what it becomes.
#pragma once

#include "formulas/ast.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

} // namespace tilefold
