// runtime/bind/bound_kernel.cpp - binds and runs one kernel.

#include "runtime/bind/bound_kernel.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/bind_job.h"
#include "runtime/bind/outputs.h"
#include "runtime/core/element.h"

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

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
    const bool may_run_again = call_.executable->program.divided != nullptr &&
                               call_.dtype() != DType::Bool;
    if (options.accumulate && may_run_again)
        return add_results(out, options);
    Job job = call_.job;
    job.target = target_of(call_, out, options.accumulate);
    call_.run(job, options.poll);
}

/// Results that may mean nothing at first are added when they are known.
void BoundKernel::add_results(const Output& out,
                              const RunOptions& options) const {
    const std::size_t size = size_of(call_.dtype());
    const auto count = std::size_t(out.elements());
    std::vector<std::byte> results;
    ElementSums sums;
    try {
        results.resize(count * size);
        sums.reset(count, call_.dtype());
    } catch (const std::bad_alloc&) {
        fail(Code::OutOfMemory,
             {"the results before they are added to out",
              std::to_string(count * size / 1000000) + " MB",
              "take fewer points at a time"});
    }
    Job job = call_.job;
    job.target = target_of(
        call_, Output::of(results.data(), call_.dtype(), call_.shape), false);
    call_.run(job, options.poll);
    for (std::size_t k = 0; k < count; ++k)
        sums.add(k, results.data() + k * size);
    sums.store(out, true);
}

} // namespace tilefold
