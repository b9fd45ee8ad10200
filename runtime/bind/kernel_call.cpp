// runtime/bind/kernel_call.cpp - runs one kernel on the CPU or on a device.

#include "runtime/bind/kernel_call.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/exponent_kernels.h"
#include "runtime/core/limits.h"
#include "runtime/cpu/math_library.h"
#include "runtime/schedule/launch.h"

#include <algorithm>
#include <atomic>

namespace tilefold {
namespace {

/// Plans a program of the call's arguments, and makes its kernel.
AlternativePointer alternative(const KernelCall& call, Program program,
                               const Poll& poll) {
    detail::SessionState& session = *call.context.session;
    const GoesOn goes_on =
        before_pairs(poll, pairs_of(call.job, call.partition));
    ForkGate::Pass inside(session.making);
    CpuOptions options = call.context.settings->cpu_options();
    options.plan.reset(); // which is another graph's
    CpuProgram planned = plan_for_cpu(std::move(program), options);
    KernelPointer kernel = session.provider.kernel(
        planned, call.context.parsed->text(),
        {call.context.session, session.making, goes_on});
    return std::make_shared<const Alternative>(
        Alternative{std::move(planned), std::move(kernel)});
}

/// The operands of a job in the order of another program's arguments, and the
/// strides between their batches.
struct Reordered {
    boost::container::small_vector<tilefold_kernel_operand, 6> operands;
    Batches batches;

    Reordered(const Job& job, const std::vector<std::int32_t>& from,
              const std::vector<std::int32_t>& to)
        : batches{job.batches->extents, {}, job.batches->moves_parameters} {
        std::vector<std::size_t> places;
        for (std::int32_t argument : to)
            places.push_back(
                std::size_t(std::ranges::find(from, argument) - from.begin()));
        for (std::size_t place : places)
            operands.push_back(job.operands[place]);
        for (std::size_t d = 0; d < batches.extents.size(); ++d)
            for (std::size_t place : places)
                batches.strides.push_back(
                    job.batches->strides[d * from.size() + place]);
    }
};

/// Runs the job by another program.
Noted launch(const KernelCall& call, Job job, const Alternative& other,
             const Poll& poll) {
    const Reordered reordered(job, call.executable->program.argument_order(),
                              other.program.argument_order());
    const Kernel& kernel = other.kernel->image.kernel();
    if (job.left.data || job.given.data)
        internal_error("states of another program");
    job.operands = {reordered.operands.data(), reordered.operands.size()};
    job.batches = &reordered.batches;
    job.literals = other.program.graph().literals.data();
    job.kernel = &kernel;
    job.functions = functions_for(other.kernel->artifact.layout);
    return launch(job, call.context.session->pool, poll);
}

/// A stranger chooses how large a state is: the K of K nearest, a fold's.
void limit_memory(const Job& job, const Partition& cut, int threads) {
    const std::size_t bytes = memory_of(job, cut, threads);
    limits::require("the memory of its threads", std::int64_t(bytes),
                    limits::memory_bytes, " bytes");
}

} // namespace

void KernelCall::run(const Job& job, const Partition& cut,
                     const Poll& poll) const {
    detail::SessionState& session = *context.session;
    session.runs.fetch_add(1, std::memory_order_relaxed);
    const auto& kernels = executable->device_kernels;
    if (!kernels.empty()) {
        const Options& options = context.settings->options;
        return session.devices
            .of(session.devices.named(*options.devices).front())
            .run_from_host(kernels, executable->program, job,
                           {on_host.data(), on_host.size()},
                           *options.device_bytes, poll);
    }
    if (*session.options.untrusted)
        limit_memory(job, cut, session.pool.threads());
    const auto make = [&](Program program) {
        return alternative(*this, std::move(program), poll);
    };
    const AlternativePointer of_exponents =
        executable->exponents
            ? executable->exponents->find(executable->program, job,
                                          pairs_of(job, cut), make)
            : nullptr;
    Noted noted = of_exponents ? launch(*this, job, *of_exponents, poll)
                               : launch(job, cut, session.pool, poll);
    // States of callers are of the call's own kernel.
    const bool keeps_states = job.left.data || job.given.data;
    const auto& as_written = executable->program.as_written;
    if (noted.left_range && as_written && !keeps_states) // from its beginning
        noted = launch(*this, job, *make(*as_written), poll);
    if (noted.met == 0)
        return;
    session.tiles_visited.fetch_add(noted.met, std::memory_order_relaxed);
    session.tiles_skipped.fetch_add(noted.left_out, std::memory_order_relaxed);
}

void KernelCall::queue(const Target& target, Stream stream) const {
    context.session->runs.fetch_add(1, std::memory_order_relaxed);
    Job with_target = job;
    with_target.target = target;
    context.session->devices.of(context.location)
        .run(*executable->device_kernels.front(), with_target,
             {on_host.data(), on_host.size()}, stream);
}

} // namespace tilefold
