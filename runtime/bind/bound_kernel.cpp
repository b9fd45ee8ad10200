// runtime/bind/bound_kernel.cpp - binds and runs one kernel.

#include "runtime/bind/bound_kernel.h"

#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace tilefold {

BoundKernel::BoundKernel(Binding&& binding)
    : BoundState(binding), call_(context(), std::move(binding.executable)) {
    fill_job(call_, binding.arguments, binding.lengths, binding.options);
}

double BoundKernel::pairs() const {
    return pairs_of(call_.job, call_.partition);
}

void BoundKernel::compute(std::span<const Output> outs,
                          const RunOptions& options) const {
    const Output& out = outs[0];
    check_out(call_.shape, call_.dtype(), location(), call_.inputs, out);
    check_accumulate(out.dtype, options.accumulate);
    if (!location().is_host())
        return call_.queue(target_of(call_, out, options.accumulate),
                           options.stream);
    const Executable& executable = *call_.executable;
    const bool may_run_again = executable.kernel &&
                               executable.program.divided &&
                               call_.dtype() != DType::Bool;
    if (options.accumulate && may_run_again)
        return add_results(out, options);
    Job job = call_.job;
    job.target = target_of(call_, out, options.accumulate);
    call_.run(job, options.poll);
}

std::unique_ptr<ResultSums> BoundKernel::made_apart() const {
    const DType dtype = call_.dtype();
    return std::make_unique<ResultSums>(
        View::of(nullptr, dtype, call_.shape),
        target_of(call_, Output::of(nullptr, dtype, call_.shape), false),
        "the results before they are added to out",
        "take fewer points at a time");
}

/// Results that may mean nothing at first are added when they are known.
void BoundKernel::add_results(const Output& out,
                              const RunOptions& options) const {
    std::unique_ptr<ResultSums> memory = spare_.take();
    if (!memory)
        memory = made_apart();
    memory->reset(out.elements(), call_.dtype());
    Job job = call_.job;
    job.target = memory->target;
    call_.run(job, options.poll);
    const std::byte* result = memory->results.data();
    for (std::size_t k = 0; k < std::size_t(out.elements()); ++k) {
        memory->sums.add(k, result);
        result += size_of(call_.dtype());
    }
    memory->sums.store(out, true);
    spare_.give(std::move(memory));
}

} // namespace tilefold
