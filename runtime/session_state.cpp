// runtime/session_state.cpp - a Session's parts, and what happens to them
// around fork().

#include "runtime/session_state.h"

#include "compiler/language/vocabulary.h"
#include "runtime/launch.h"
#include "runtime/options.h"

#include <mutex>

namespace tilefold::detail {

SessionState::SessionState(const Options& given)
    : options(resolve(given)), crew(*options.threads), provider(options, crew),
      devices(options) {
    enlist();
}

SessionState::~SessionState() {
    dismiss();
}

CompileOptions SessionState::compile_options() const {
    return {*options.isa, options.plan, {}, *options.tolerance};
}

CompileOptions SessionState::device_compile_options() const {
    return {.isa = *options.isa};
}

void SessionState::run(const BoundState& bound, const Job& job,
                       const Poll& poll) {
    runs.fetch_add(1, std::memory_order_relaxed);
    const auto& kernels = bound.prepared->device_kernels;
    if (!kernels.empty())
        return devices.of(devices.of_host_arrays().front())
            .run_from_host(kernels, bound.prepared->program, job,
                           {bound.on_host.data(), bound.on_host.size()},
                           *options.device_bytes, poll);
    const Tiles tiles = launch(job, bound.cut, crew, poll);
    if (tiles.met == 0)
        return;
    tiles_met.fetch_add(tiles.met, std::memory_order_relaxed);
    tiles_left_out.fetch_add(tiles.left_out, std::memory_order_relaxed);
}

void SessionState::run(const BoundState& bound, const Target& target,
                       Stream stream) {
    runs.fetch_add(1, std::memory_order_relaxed);
    Job job = bound.job;
    job.target = target;
    devices.of(bound.location)
        .run(*bound.prepared->device_kernels.front(), job,
             {bound.on_host.data(), bound.on_host.size()}, stream);
}

std::shared_ptr<Parsed> SessionState::parsed(std::string_view text) {
    std::string key(text);
    {
        std::lock_guard lock(mutex_);
        if (auto found = formulas_.find(key); found != formulas_.end())
            return found->second;
    }
    Gate::Pass inside(making);
    auto parsed =
        std::make_shared<Parsed>(parse_or_resolve(text), Derivation{}, mutex_);
    std::lock_guard lock(mutex_);
    if (formulas_.size() >= most_formulas)
        formulas_.clear();
    return formulas_.try_emplace(std::move(key), std::move(parsed))
        .first->second;
}

void SessionState::before_fork() {
    making.close();
    provider.lock();
    mutex_.lock();
}

void SessionState::after_fork(bool in_child) {
    mutex_.unlock();
    provider.unlock();
    making.open();
    if (in_child)
        crew.renew_in_child();
}

} // namespace tilefold::detail
