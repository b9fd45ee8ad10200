// runtime/bind/bound_state.cpp - a call's job on the CPU or on a device.

#include "runtime/bind/bound_state.h"

#include "runtime/cpu/math_library.h"
#include "runtime/schedule/launch.h"

#include <algorithm>
#include <atomic>

namespace tilefold::detail {
namespace {

/// The kernel that divides in pairs.
KernelPointer divided_kernel(const BoundState& bound, double pairs,
                             const Poll& poll) {
    SessionState& session = *bound.session;
    GoesOn goes_on;
    if (poll)
        goes_on = [&] { return poll(0, pairs); };
    ForkGate::Pass inside(session.making);
    CpuOptions options = bound.settings->cpu_options();
    options.plan.reset(); // which is another graph's
    const CpuProgram planned =
        plan_for_cpu(*bound.executable->program.divided, options);
    return session.provider.kernel(planned, bound.parsed->text(),
                                   {bound.session, session.making, goes_on});
}

/// The operands of a job in the order of another program's arguments, and the
/// strides between their batches.
struct Reordered {
    boost::container::small_vector<tilefold_operand, 6> operands;
    Batches batches;

    Reordered(const Job& job, const std::vector<std::int32_t>& from,
              const std::vector<std::int32_t>& to)
        : batches{job.batches->extents, {}, job.batches->moves_parameters} {
        std::vector<std::size_t> places;
        for (std::int32_t argument : to)
            places.push_back(std::size_t(std::ranges::find(from, argument) -
                                         from.begin()));
        for (std::size_t place : places)
            operands.push_back(job.operands[place]);
        for (std::size_t d = 0; d < batches.extents.size(); ++d)
            for (std::size_t place : places)
                batches.strides.push_back(
                    job.batches->strides[d * places.size() + place]);
    }
};

/// The job once more, from its beginning.
Noted run_divided(const BoundState& bound, Job job, const Poll& poll) {
    const Program& divided = *bound.executable->program.divided;
    const Reordered reordered(job, bound.executable->program.argument_order,
                              divided.argument_order);
    job.operands = {reordered.operands.data(), reordered.operands.size()};
    job.batches = &reordered.batches;
    const double pairs = std::max(pairs_of(job, bound.partition), 1.0);
    const KernelPointer kernel = divided_kernel(bound, pairs, poll);
    job.kernel = &kernel->image.kernel();
    job.literals = divided.graph.literals.data();
    job.functions = functions_for(kernel->artifact.layout);
    return launch(job, bound.session->pool, poll);
}

} // namespace

void run_job(const BoundState& bound, const Job& job, const Poll& poll) {
    SessionState& session = *bound.session;
    session.runs.fetch_add(1, std::memory_order_relaxed);
    const auto& kernels = bound.executable->device_kernels;
    if (!kernels.empty()) {
        const Options& options = bound.settings->options;
        return session.devices
            .of(session.devices.named(*options.devices).front())
            .run_from_host(kernels, bound.executable->program, job,
                           {bound.on_host.data(), bound.on_host.size()},
                           *options.device_bytes, poll);
    }
    Noted noted = launch(job, bound.partition, session.pool, poll);
    if (noted.flushed && bound.executable->program.divided)
        noted = run_divided(bound, job, poll);
    if (noted.met == 0)
        return;
    session.tiles_visited.fetch_add(noted.met, std::memory_order_relaxed);
    session.tiles_skipped.fetch_add(noted.left_out, std::memory_order_relaxed);
}

void queue_job(const BoundState& bound, const Target& target, Stream stream) {
    bound.session->runs.fetch_add(1, std::memory_order_relaxed);
    Job job = bound.job;
    job.target = target;
    bound.session->devices.of(bound.location)
        .run(*bound.executable->device_kernels.front(), job,
             {bound.on_host.data(), bound.on_host.size()}, stream);
}

} // namespace tilefold::detail
