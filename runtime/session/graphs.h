// runtime/session/graphs.h - the graphs of a call, before any kernel is made.
#pragma once

#include "compiler/graphs.h"
#include "runtime/session/session.h"

#include <span>

namespace tilefold {

/// Returns the graphs of a call. Only names, dtypes and shapes of the arguments
/// are read; `chosen`: for a call with ranges. Throws what Formula::bind would
/// throw of them.
FormulaGraphs graphs_of(const Formula& formula,
                        std::span<const NamedView> arguments, bool chosen);

} // namespace tilefold
