// runtime/session/inspect.cpp - what is behind the handles of session.h.

#include "runtime/session/inspect.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "formulas/diagnostic.h"
#include "runtime/bind/bound_state.h"

namespace tilefold {
namespace {

using detail::BoundState;

const Executable& last_kernel(const Bound& bound) {
    return *Inspection::of(bound).kernels().back();
}

KernelUse use_of(const Executable& executable) {
    const Program& program = executable.program;
    KernelUse use;
    use.plan = *executable.plan;
    use.kind = kind_of(program.graph(), use.plan);
    use.takes_column_tiles = takes_column_tiles(program.graph(), use.plan);
    use.layout = executable.kernel->artifact.layout;
    use.folds_rows = program.folds_rows;
    use.is_for_one_point = program.one_point != Axes::None;
    use.flat_width = program.flat_width;
    return use;
}

void add_sizes(KernelUse& use, const KernelCall& call) {
    const Job& job = call.job;
    const Partition& partition = call.partition;
    use.scratch = job.kernel->scratch(job.width);
    use.state = job.kernel->slots(job.width) * 8;
    use.rows = job.rows;
    use.columns = job.columns;
    use.width = job.width;
    use.batches = call.batches.count();
    use.block = partition.block;
    use.row_pieces = partition.row_pieces;
    use.column_pieces = partition.column_pieces;
    use.row_tasks =
        partition.row_tasks ? std::int64_t(partition.row_tasks->all.size()) : 0;
}

} // namespace

const ast::Formula& tree_of(const Formula& formula) {
    return Inspection::of(formula).parsed->tree();
}

const Derivation& derivation_of(const Formula& formula) {
    return Inspection::of(formula).parsed->derivation();
}

const Program& program_of(const Bound& bound) {
    return last_kernel(bound).program;
}

const Artifact& artifact_of(const Bound& bound) {
    if (!last_kernel(bound).device_kernels.empty())
        fail(Code::HostOnly, {"artifact_of()", "a GPU"});
    return last_kernel(bound).kernel->artifact;
}

std::vector<KernelUse> kernels_of(const Bound& bound) {
    const BoundState& state = Inspection::of(bound);
    if (!last_kernel(bound).device_kernels.empty())
        fail(Code::HostOnly, {"kernels_of()", "a GPU"});
    std::vector<KernelUse> uses;
    for (const ExecutablePointer& kernel : state.kernels())
        uses.push_back(use_of(*kernel));
    if (const KernelCall* call = state.kernel_call())
        add_sizes(uses.front(), *call);
    return uses;
}

} // namespace tilefold
