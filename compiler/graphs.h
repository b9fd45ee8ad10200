// compiler/graphs.h - a formula's graphs as built, for who computes them by
// other means than a backend's kernels.
#pragma once

#include "compiler/pipeline.h"

#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// One graph after the other, i and j being the formula's. The arguments of
/// each are those given to graphs_of() and the parts that graphs before it
/// leave, by their names.
struct FormulaGraphs {
    std::vector<Sweep> sweeps;
    std::vector<ResultPlace> results;
    std::vector<std::string> labels; ///< as of DerivedGraph
    std::vector<Type> types;         ///< that the results are to have
};

/// Throws what compile() throws.
FormulaGraphs graphs_of(const ast::Formula& formula,
                        const Derivation& derivation,
                        std::span<const ArgumentType> arguments, Mode mode);

} // namespace tilefold
