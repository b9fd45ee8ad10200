// runtime/bind/bound_kernel.cpp - binds and runs one kernel.

#include "runtime/bind/bound_kernel.h"

#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"

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
    Job job = call_.job;
    job.target = target_of(call_, out, options.accumulate);
    call_.run(job, options.poll);
}

} // namespace tilefold
