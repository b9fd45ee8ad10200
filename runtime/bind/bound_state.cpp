// runtime/bind/bound_state.cpp - a call's job on the CPU or on a device.

#include "runtime/bind/bound_state.h"

#include "runtime/schedule/launch.h"

#include <atomic>

namespace tilefold::detail {

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
    const Tiles tiles = launch(job, bound.partition, session.pool, poll);
    if (tiles.met == 0)
        return;
    session.tiles_visited.fetch_add(tiles.met, std::memory_order_relaxed);
    session.tiles_skipped.fetch_add(tiles.left_out, std::memory_order_relaxed);
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
