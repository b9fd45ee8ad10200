// runtime/bind/bound_state.cpp - what all bound calls do alike.

#include "runtime/bind/bound_state.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/call_location.h"

#include <algorithm>

namespace tilefold::detail {

BoundState::BoundState(const Binding& binding)
    : context_{binding.formula.session, binding.formula.parsed,
               binding.formula.settings, binding.location},
      indices_(index_arrays(*binding.executable, binding.arguments)) {
    check_indices(indices_, binding.options.goes_on);
}

void BoundState::run(std::span<const Output> outs,
                     const RunOptions& options) const {
    require_outputs(outs);
    if (!indices_.empty() && has_run_.exchange(true))
        check_indices_again(options.poll);
    compute(outs, options);
}

double BoundState::check(std::span<const Output> outs, std::int64_t rows,
                         const GoesOn& goes_on) const {
    require_host(location(), "check");
    require_outputs(outs);
    return error_of(outs, rows, goes_on);
}

void BoundState::require_outputs(std::span<const Output> outs) const {
    if (outs.size() != results())
        internal_error("a result without an output");
}

/// Progress is told before anything of the work is done.
void BoundState::check_indices_again(const Poll& poll) const {
    GoesOn goes_on;
    if (poll)
        goes_on = [&poll, total = std::max(pairs(), 1.0)] {
            return poll(0, total);
        };
    check_indices(indices_, goes_on);
}

} // namespace tilefold::detail
