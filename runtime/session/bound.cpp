// runtime/session/bound.cpp - the handle Bound: its results, and running it.

#include "formulas/diagnostic.h"
#include "runtime/bind/batch_sum.h"
#include "runtime/bind/bound_state.h"
#include "runtime/bind/outputs.h"
#include "runtime/bind/sweeps.h"
#include "runtime/session/session.h"

#include <algorithm>
#include <utility>

namespace tilefold {
namespace {

using detail::BoundState;

/// Before anything of the work is done.
GoesOn going_on_of(const BoundState& bound, const Poll& poll) {
    if (!poll)
        return {};
    const double pairs = bound.sweeps ? double(bound.sweeps->lengths.i) *
                                            double(bound.sweeps->lengths.j)
                                      : pairs_of(bound.job, bound.partition);
    return [&poll, pairs] { return poll(0, std::max(pairs, 1.0)); };
}

void run_kernel(const BoundState& bound, const Output& out,
                const RunOptions& options) {
    check_out(bound.shape, bound.executable->program.result.dtype,
              bound.location, {bound.inputs.data(), bound.inputs.size()}, out);
    check_accumulate(out.dtype, options.accumulate);
    if (!bound.location.is_host())
        return detail::queue_job(
            bound, target_of(bound, out, options.accumulate), options.stream);
    Job job = bound.job;
    job.target = target_of(bound, out, options.accumulate);
    detail::run_job(bound, job, options.poll);
}

/// Whether results may turn out to mean nothing: then they are added to `out`
/// when they are known, as sums over no batch axis.
bool may_run_again(const BoundState& bound) {
    const Program& program = bound.executable->program;
    return program.divided && bound.executable->kernel &&
           program.result.dtype != DType::Bool;
}

} // namespace

Bound::Bound(std::shared_ptr<detail::BoundState> state)
    : state_(std::move(state)) {}

std::size_t Bound::results() const {
    return state_->sweeps ? state_->sweeps->results.size() : 1;
}

bool Bound::is_imaginary(std::size_t result) const {
    return state_->sweeps && state_->sweeps->results[result].is_imaginary;
}

const Extents& Bound::shape(std::size_t result) const {
    if (state_->sweeps)
        return state_->sweeps->results[result].shape;
    return state_->summed.empty() ? state_->shape : state_->sum_shape;
}

DType Bound::dtype(std::size_t result) const {
    return state_->sweeps ? state_->sweeps->results[result].dtype
                          : state_->executable->program.result.dtype;
}

Location Bound::location() const {
    return state_->location;
}

DeviceMemoryPointer Bound::allocate(std::size_t bytes, void* stream) const {
    return state_->session->devices.of(state_->location)
        .allocate(state_->location.number, bytes, stream, "the result",
                  "reduce over an axis, or take fewer points at a time");
}

void Bound::finish(void* stream) const {
    state_->session->devices.of(state_->location)
        .finish(state_->location.number, stream);
}

void Bound::run(std::span<const Output> outs, const RunOptions& options) const {
    if (outs.size() != results())
        internal_error("a result without an output");
    if (!state_->indices.empty() && state_->has_run.exchange(true))
        check_indices(state_->indices, going_on_of(*state_, options.poll));
    if (state_->sweeps)
        run_sweeps(*state_, outs, options);
    else if (!state_->summed.empty() ||
             (options.accumulate && may_run_again(*state_)))
        run_batch_sum(*state_, outs[0], options);
    else
        run_kernel(*state_, outs[0], options);
}

void Bound::run(const Output& out, const RunOptions& options) const {
    run(std::span(&out, 1), options);
}

} // namespace tilefold
