// runtime/bound.cpp - checks `out` and runs the job.

#include "formulas/diagnostic.h"
#include "runtime/launch.h"
#include "runtime/session_state.h"

#include <algorithm>

namespace tilefold {
namespace {

using detail::BoundState;

void check_overlap(const BoundState& bound, const Output& out) {
    for (std::size_t d = 0; d < out.shape.size(); ++d)
        if (out.strides[d] == 0 && out.shape[d] > 1)
            fail(Code::OverlappingOut, {"out"});
    Bytes written = bytes_of(out.data, out.dtype, out.shape, out.strides);
    for (const BoundState::Input& input : bound.inputs)
        if (written.meets(input.bytes))
            fail(Code::OverlappingOut, {input.name});
}

void check_out(const BoundState& bound, const Output& out) {
    if (!std::ranges::equal(out.shape, bound.shape))
        fail(Code::OutShape,
             {spelling_of(out.shape), spelling_of(bound.shape)});
    DType dtype = bound.prepared->program.result.dtype;
    if (out.dtype != dtype)
        fail(Code::OutDType, {std::string(spelling_of(out.dtype)),
                              std::string(spelling_of(dtype))});
    check_overlap(bound, out);
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

} // namespace

Bound::Bound(std::shared_ptr<detail::BoundState> state)
    : state_(std::move(state)) {}

const Extents& Bound::shape() const {
    return state_->shape;
}

DType Bound::dtype() const {
    return program().result.dtype;
}

const Program& Bound::program() const {
    return state_->prepared->program;
}

const Artifact& Bound::artifact() const {
    return state_->prepared->kernel->artifact;
}

void Bound::run(const Output& out, const RunOptions& options) const {
    check_out(*state_, out);
    Job job = state_->job;
    job.target = target_of(*state_, out, options.accumulate);
    state_->session->runs.fetch_add(1, std::memory_order_relaxed);
    launch(job, state_->session->crew, options.poll);
}

} // namespace tilefold
