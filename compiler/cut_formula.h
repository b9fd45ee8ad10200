// compiler/cut_formula.h - a formula and its derivatives as sweeps.
#pragma once

#include "compiler/build/build.h"
#include "compiler/passes/sweeps.h"

#include <span>

namespace tilefold {

struct CutFormula {
    DerivedGraph derived;
    Sweeps sweeps;
};

/// Builds and cuts. A float32 formula is built again in float64 where a sweep
/// hands float64 values of points to another, since arrays are read in one
/// dtype.
CutFormula cut_formula(const ast::Formula& formula,
                       const Derivation& derivation,
                       std::span<const ArgumentType> arguments,
                       ir::Pairs pairs);

} // namespace tilefold
