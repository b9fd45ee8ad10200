// runtime/bound.cpp - checks `out` and runs the job.

#include "runtime/bound.h"

#include "formulas/diagnostic.h"
#include "runtime/batch_sum.h"
#include "runtime/session_state.h"
#include "runtime/sweeps.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tilefold {
namespace {

using detail::BoundState;

/// Whether two elements may lie in one place: along some axis a step is
/// shorter than what the axes of smaller steps reach over.
bool overlaps_itself(const Output& out) {
    using Axis = std::pair<std::int64_t, std::int64_t>; // step, extent
    boost::container::small_vector<Axis, 8> axes;
    for (std::size_t d = 0; d < out.shape.size(); ++d)
        if (out.shape[d] > 1)
            axes.emplace_back(std::abs(out.strides[d]), out.shape[d]);
    std::ranges::sort(axes);
    auto reach = std::int64_t(size_of(out.dtype));
    for (const auto& [step, extent] : axes) {
        if (step < reach)
            return true;
        reach += step * (extent - 1);
    }
    return false;
}

void check_overlap(std::span<const BoundState::Input> inputs,
                   const Output& out) {
    if (std::ranges::count(out.shape, 0) > 0)
        return; // nothing is written
    if (overlaps_itself(out))
        fail(Code::OutOverlapsItself);
    Bytes written = bytes_of(out.data, out.dtype, out.shape, out.strides);
    for (const BoundState::Input& input : inputs)
        if (input.location == out.location && written.meets(input.bytes))
            fail(Code::OverlappingOut, {input.name});
}

} // namespace

void check_out(const Extents& shape, DType dtype, const Location& location,
               std::span<const BoundState::Input> inputs, const Output& out) {
    if (out.location != location)
        fail(Code::OtherDevice,
             {"out", spelling_of(out.location), spelling_of(location)});
    if (!std::ranges::equal(out.shape, shape))
        fail(Code::OutShape, {spelling_of(out.shape), spelling_of(shape)});
    if (out.dtype != dtype)
        fail(Code::OutDType, {std::string(spelling_of(out.dtype)),
                              std::string(spelling_of(dtype))});
    check_overlap(inputs, out);
}

Target target_of(const BoundState& bound, const Output& out, bool accumulate) {
    auto stride = [&](int axis) {
        return axis < 0 ? 0 : out.strides[std::size_t(axis)];
    };
    Target target;
    target.data = static_cast<char*>(out.data);
    target.row = stride(bound.row_axis);
    target.column = stride(bound.column_axis);
    target.component = stride(bound.component_axis);
    target.accumulate = accumulate;
    for (std::size_t d = 0; d < bound.batch_dimensions; ++d)
        if (bound.shape[d] != 1)
            target.batch.push_back(out.strides[d]);
    return target;
}

void check_accumulate(DType dtype, bool accumulate) {
    if (accumulate && dtype == DType::U64)
        fail(Code::BadOption,
             {"accumulate", "used with a result of uint64",
              "add the result to the array, or pass int64 numbers"});
}

namespace {

/// Before anything of the work is done.
GoesOn going_on_of(const BoundState& bound, const Poll& poll) {
    if (!poll)
        return {};
    const double pairs = bound.sweeps ? double(bound.sweeps->lengths.i) *
                                            double(bound.sweeps->lengths.j)
                                      : pairs_of(bound.job, bound.cut);
    return [&poll, pairs] { return poll(0, std::max(pairs, 1.0)); };
}

void run_kernel(const BoundState& bound, const Output& out,
                const RunOptions& options) {
    check_out(bound.shape, bound.prepared->program.result.dtype, bound.location,
              {bound.inputs.data(), bound.inputs.size()}, out);
    check_accumulate(out.dtype, options.accumulate);
    if (!bound.location.is_host())
        return bound.session->run(
            bound, target_of(bound, out, options.accumulate), options.stream);
    Job job = bound.job;
    job.target = target_of(bound, out, options.accumulate);
    bound.session->run(bound, job, options.poll);
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
                          : state_->prepared->program.result.dtype;
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

const Prepared& Bound::last_kernel() const {
    const Prepared& prepared = *state_->prepared;
    return prepared.sweeps ? *prepared.sweeps->kernels.back() : prepared;
}

const Program& Bound::program() const {
    return last_kernel().program;
}

const Artifact& Bound::artifact() const {
    if (!last_kernel().device_kernels.empty())
        fail(Code::HostOnly, {"Bound::artifact()", "a GPU"});
    return last_kernel().kernel->artifact;
}

void Bound::run(std::span<const Output> outs, const RunOptions& options) const {
    if (outs.size() != results())
        internal_error("a result without an output");
    if (!state_->indices.empty() && state_->has_run.exchange(true))
        check_indices(state_->indices, going_on_of(*state_, options.poll));
    if (state_->sweeps)
        run_sweeps(*state_, outs, options);
    else if (!state_->summed.empty())
        run_batch_sum(*state_, outs[0], options);
    else
        run_kernel(*state_, outs[0], options);
}

void Bound::run(const Output& out, const RunOptions& options) const {
    run(std::span(&out, 1), options);
}

} // namespace tilefold
