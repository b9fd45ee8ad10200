// runtime/bind/row_states.cpp - jobs that leave states, or take them.

#include "runtime/bind/row_states.h"

#include "compiler/ir/queries.h"
#include "formulas/diagnostic.h"
#include "runtime/cpu/float_mode.h"

#include <algorithm>
#include <optional>

namespace tilefold {
namespace {

[[noreturn]] void refuse_formula(const std::string& what,
                                 const std::string& cure) {
    fail(Code::BadOption, {"formula", what, cure});
}

const KernelCall& kernel_with_states(const KernelCall* call) {
    if (!call)
        refuse_formula(
            "one that takes several passes over the pairs, and states are "
            "of one",
            "compute what it needs of all points by reductions of their own, "
            "and pass their results as arguments");
    const Program& program = call->executable->program;
    if (!ir::reduces(program.graph()) ||
        (program.single_column && !program.folds_rows))
        refuse_formula("one that reduces nothing", "call it, part by part");
    if (!call->executable->kernel || !call->job.segment)
        internal_error("states without a kernel or a segment");
    if (!call->job.kernel->init)
        fail(Code::BadPlan, {"nest", "one that keeps no state"});
    return *call;
}

/// Rows of which each has a state: of the one axis, one row.
std::int64_t rows_of_states(const Job& job) {
    return job.has_one_axis ? 1 : job.rows;
}

std::int64_t stride_of(const Job& job) {
    const std::int64_t multiple = job.kernel->layout.row_multiple;
    return (rows_of_states(job) + multiple - 1) / multiple * multiple;
}

/// The pairs of a call's ranges that meet a part of its columns.
Ranges ranges_of_part(const KernelCall& call, Interval part) {
    const Job& job = call.job;
    const Interval rows{0, job.rows};
    const Interval columns{part.first - job.first_column,
                           part.last - job.first_column};
    return call.executable->program.swapped ? call.ranges->part(columns, rows)
                                            : call.ranges->part(rows, columns);
}

/// A job on the states of the call's rows: each is kept, folded or not.
Job job_of_rows(const KernelCall& call) {
    Job job = call.job;
    if (!job.has_one_axis)
        job.loop = LoopKind::Reduce;
    return job;
}

} // namespace

StateLayout state_layout(const KernelCall* given) {
    const KernelCall& call = kernel_with_states(given);
    const Job& job = call.job;
    const Program& program = call.executable->program;
    const Axes rows = program.swapped ? Axes::J : Axes::I;
    const Axes columns = program.swapped ? Axes::I : Axes::J;
    StateLayout layout;
    layout.batches = call.batches.count();
    layout.slots = job.kernel->slots(job.width);
    layout.rows = rows_of_states(job);
    layout.stride = stride_of(job);
    layout.reduced = job.has_one_axis ? rows : columns;
    const bool has_one_axis = job.has_one_axis || program.single_row;
    layout.kept = has_one_axis ? Axes::None : rows;
    layout.folds = program.folds_rows;
    layout.first = job.has_one_axis ? job.first_row : job.first_column;
    layout.count = job.has_one_axis ? job.rows : job.columns;
    layout.total =
        job.has_one_axis ? job.rows_of_axis() : job.columns_of_axis();
    if (!has_one_axis) {
        layout.first_row = job.first_row;
        layout.total_rows = job.rows_of_axis();
    }
    layout.segment = job.segment;
    layout.kind =
        call.executable->key.hex() + " of width " + std::to_string(job.width);
    return layout;
}

void leave_states(const KernelCall& call, Interval part, double* states,
                  const Poll& poll) {
    Job job = job_of_rows(call);
    if (job.has_one_axis) {
        job.first_row = part.first;
        job.rows = part.size();
    } else {
        job.first_column = part.first;
        job.columns = part.size();
    }
    std::optional<Ranges> ranges;
    Chosen chosen = call.chosen;
    if (job.chosen) {
        chosen.ranges = &ranges.emplace(ranges_of_part(call, part));
        job.chosen = &chosen;
    }
    job.left = {states, stride_of(call.job)};
    // What is behind the rows is garbage, of which files hold nothing.
    std::fill_n(states,
                call.batches.count() * job.kernel->slots(job.width) *
                    job.left.stride,
                0.0);
    call.run(job, partition_of(job), poll);
}

void merge_states(const KernelCall& call, double* into, const double* from) {
    const Job& job = call.job;
    cpu::FloatMode mode;
    tilefold_kernel_call merged{};
    merged.literals = job.literals;
    merged.rows = job.rows_of_axis();
    merged.columns = job.columns_of_axis();
    merged.width = job.width;
    merged.functions = job.functions;
    const std::int64_t stride = stride_of(job);
    const std::int64_t doubles = job.kernel->slots(job.width) * stride;
    for (std::int64_t b = 0; b < call.batches.count(); ++b)
        job.kernel->merge(&merged, into + b * doubles, from + b * doubles,
                          stride, rows_of_states(job));
}

void finalise_states(const KernelCall& call, const double* states,
                     const Target& target, const Poll& poll) {
    Job job = call.job;
    job.target = target;
    job.chosen = nullptr;
    // The kernel reads no column, and given states say nothing of rows.
    job.given = {const_cast<double*>(states), stride_of(job)};
    job.rows = rows_of_states(job);
    if (job.loop == LoopKind::FoldRows)
        job.first_row = 0;
    if (!job.has_one_axis)
        job.columns = 0;
    call.run(job, partition_of(job), poll);
}

} // namespace tilefold
