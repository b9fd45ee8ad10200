// runtime/bind/bound_kernel.cpp - binds and runs one kernel.

#include "runtime/bind/bound_kernel.h"

#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"
#include "runtime/bind/row_states.h"

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
                               executable.program.as_written &&
                               call_.dtype() != DType::Bool;
    if (options.accumulate && may_run_again) // they are added when known
        return sum_results(out, options, {},
                           "the results before they are added to out",
                           "take fewer points at a time");
    Job job = call_.job;
    job.target = target_of(call_, out, options.accumulate);
    call_.run(job, options.poll);
}

void BoundKernel::finalise(const double* states, std::span<const Output> outs,
                           const RunOptions& options) const {
    const Output& out = outs[0];
    check_out(call_.shape, call_.dtype(), location(), call_.inputs, out);
    finalise_states(call_, states, target_of(call_, out, false), options.poll);
}

std::unique_ptr<ResultSums>
BoundKernel::sums_of(const std::vector<bool>& summed, const char* what,
                     const char* cure) const {
    const DType dtype = call_.dtype();
    return std::make_unique<ResultSums>(
        View::of(nullptr, dtype, call_.shape),
        target_of(call_, Output::of(nullptr, dtype, call_.shape), false),
        summed, what, cure);
}

void BoundKernel::sum_results(const Output& out, const RunOptions& options,
                              const std::vector<bool>& summed, const char* what,
                              const char* cure) const {
    std::unique_ptr<ResultSums> memory = spare_.take();
    if (!memory)
        memory = sums_of(summed, what, cure);
    memory->reset(out.elements(), call_.dtype());
    Job job = call_.job;
    job.target = memory->target;
    call_.run(job, options.poll);
    const std::byte* result = memory->results.data();
    each_element(call_.shape, memory->strides, [&](std::int64_t at) {
        memory->sums.add(std::size_t(at), result);
        result += size_of(call_.dtype());
    });
    memory->sums.store(out, options.accumulate);
    spare_.give(std::move(memory));
}

} // namespace tilefold
