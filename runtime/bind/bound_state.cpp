// runtime/bind/bound_state.cpp - what all bound calls do alike.

#include "runtime/bind/bound_state.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/call_location.h"

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
        check_indices(indices_, before_pairs(options.poll, pairs()));
    compute(outs, options);
}

void BoundState::finalise(const double*, std::span<const Output>,
                          const RunOptions&) const {
    internal_error("states of a call that has none");
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

} // namespace tilefold::detail
