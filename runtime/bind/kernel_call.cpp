// runtime/bind/kernel_call.cpp - runs one kernel on the CPU or on a device.

#include "runtime/bind/kernel_call.h"

#include "runtime/schedule/launch.h"

#include <atomic>

namespace tilefold {

void KernelCall::run(const Job& job, const Poll& poll) const {
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
    const Tiles tiles = launch(job, partition, session.pool, poll);
    if (tiles.met == 0)
        return;
    session.tiles_visited.fetch_add(tiles.met, std::memory_order_relaxed);
    session.tiles_skipped.fetch_add(tiles.left_out, std::memory_order_relaxed);
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
