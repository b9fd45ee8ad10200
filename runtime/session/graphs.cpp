// runtime/session/graphs.cpp - see graphs.h.
#include "runtime/session/graphs.h"

#include "runtime/bind/bind.h"
#include "runtime/bind/session_state.h"
#include "runtime/session/inspect.h"

namespace tilefold {

FormulaGraphs graphs_of(const Formula& formula,
                        std::span<const NamedView> arguments, bool chosen) {
    const detail::FormulaState& state = Inspection::of(formula);
    const ParsedFormula& parsed = *state.parsed;
    const Compilable what = compilable(state, arguments, {});
    return graphs_of(parsed.tree(), parsed.derivation(), what.types,
                     chosen ? Mode::Chosen : what.mode);
}

} // namespace tilefold
