// runtime/session/bound.cpp - the handle Bound: its results, and running it.

#include "runtime/bind/bound_state.h"
#include "runtime/bind/row_states.h"
#include "runtime/session/session.h"

#include <utility>

namespace tilefold {

Bound::Bound(std::shared_ptr<detail::BoundState> state)
    : state_(std::move(state)) {}

std::size_t Bound::results() const {
    return state_->results();
}

bool Bound::is_imaginary(std::size_t result) const {
    return state_->is_imaginary(result);
}

const Extents& Bound::shape(std::size_t result) const {
    return state_->shape(result);
}

DType Bound::dtype(std::size_t result) const {
    return state_->dtype(result);
}

Location Bound::location() const {
    return state_->location();
}

DeviceMemoryPointer Bound::allocate(std::size_t bytes, void* stream) const {
    const Location& location = state_->location();
    return state_->context().session->devices.of(location).allocate(
        location.number, bytes, stream, "the result",
        "reduce over an axis, or take fewer points at a time");
}

void Bound::finish(void* stream) const {
    const Location& location = state_->location();
    state_->context().session->devices.of(location).finish(location.number,
                                                           stream);
}

void Bound::run(std::span<const Output> outs, const RunOptions& options) const {
    state_->run(outs, options);
}

void Bound::run(const Output& out, const RunOptions& options) const {
    run(std::span(&out, 1), options);
}

double Bound::check(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const {
    return state_->check(outs, rows, goes_on);
}

double Bound::check(const Output& out, std::int64_t rows,
                    const GoesOn& goes_on) const {
    return check(std::span(&out, 1), rows, goes_on);
}

StateLayout Bound::state_layout() const {
    return tilefold::state_layout(state_->kernel_of_states());
}

void Bound::leave(std::int64_t first, std::int64_t last, double* states,
                  const RunOptions& options) const {
    leave_states(*state_->kernel_of_states(), {first, last}, states,
                 options.poll);
}

void Bound::merge(double* into, const double* from) const {
    merge_states(*state_->kernel_of_states(), into, from);
}

void Bound::finalise(const double* states, std::span<const Output> outs,
                     const RunOptions& options) const {
    state_->finalise(states, outs, options);
}

} // namespace tilefold
