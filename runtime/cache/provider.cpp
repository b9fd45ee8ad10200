// runtime/cache/provider.cpp - memory, disk, compiler, in this order.

#include "runtime/cache/provider.h"

#include "formulas/diagnostic.h"
#include "runtime/core/apart.h"
#include "runtime/core/limits.h"
#include "runtime/cpu/environment.h"
#include "runtime/cpu/isa.h"

#include <chrono>
#include <cstdio>
#include <functional>

namespace tilefold {
namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// Leaves the gate while it waits, which may take long: a callback may fork.
template <class Wait> auto wait_outside(const Asker& asker, const Wait& wait) {
    if (!asker.goes_on)
        return wait();
    const ForkGate::Break outside(asker.gate);
    return wait();
}

/// What a thread that compiles keeps, and leaves in the other order.
struct Inside {
    explicit Inside(const Asker& asker)
        : session(asker.session), pass(asker.gate) {}

    std::shared_ptr<void> session;
    ForkGate::Pass pass;
};

} // namespace

KernelProvider::KernelProvider(const Options& options, ThreadPool& pool)
    : pool_(pool), untrusted_(*options.untrusted), log_(*options.log),
      perf_map_(perf_map_wanted()), disk_(options) {}

KernelPointer KernelProvider::kernel(const CpuProgram& program,
                                     std::string_view formula,
                                     const Asker& asker) {
    const auto [making, is_new] = memory_.join(program.key);
    memory_hits_ += !is_new;
    if (is_new)
        see_to(program, formula, asker, making);
    return wait_outside(asker, [&] {
        return memory_.wait(program.key, *making, asker.goes_on);
    });
}

std::optional<Plan> KernelProvider::fastest_plan(const Key& program) {
    const DiskCache::Found found =
        disk_.load(key_of(program, cpu::processor()));
    if (!found.payload)
        return std::nullopt;
    try {
        return parse_plan({reinterpret_cast<const char*>(found.payload->data()),
                           found.payload->size()});
    } catch (const Error&) {
        return std::nullopt; // of another version
    }
}

void KernelProvider::keep_fastest_plan(const Key& program, const Plan& plan,
                                       std::string_view formula, double gain) {
    const std::string text = print(plan);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    disk_.store(key_of(program, cpu::processor()),
                {"tuner", std::string(spelling_of(plan.isa)), text},
                {bytes, bytes + text.size()});
    if (log_)
        std::fprintf(stderr, "tilefold: tuned %.*s to %s, %.2f times faster\n",
                     int(formula.size()), formula.data(), text.c_str(), gain);
}

std::string KernelProvider::explain(const CompileRequest& request,
                                    const char* what, const Asker& asker) {
    if (!asker.goes_on)
        return backend_.explain(request, what);
    const auto making = std::make_shared<Making<std::string>>();
    making->join();
    run_apart([=, this, inside = Inside(asker)] {
        try {
            making->set(backend_.explain(
                request, what, [&] { return making->is_abandoned(); }));
        } catch (...) {
            making->set_error(std::current_exception());
        }
    });
    return wait_outside(asker, [&] { return making->wait(asker.goes_on); });
}

/// Reads the kernel from disk at once, else compiles it, which takes its time.
/// What goes wrong is for those who wait.
void KernelProvider::see_to(
    const CpuProgram& program, std::string_view formula, const Asker& asker,
    const std::shared_ptr<Making<KernelPointer>>& making) {
    try {
        DiskMiss miss{};
        if (KernelPointer found = from_disk(program, miss))
            return memory_.make(program.key, *making, [&] { return found; });
        auto make = [this, program, text = std::string(formula), miss, making] {
            const auto maker = [&] {
                return loaded(program, compile(program, text, miss, [&] {
                                  return making->is_abandoned();
                              }));
            };
            // The maker is passed by reference, which allocates nothing: here
            // nobody catches.
            memory_.make(program.key, *making, std::ref(maker));
        };
        if (!asker.goes_on)
            return make();
        run_apart([make = std::move(make), inside = Inside(asker)] { make(); });
    } catch (...) {
        memory_.make(program.key, *making, []() -> KernelPointer { throw; });
    }
}

KernelPointer KernelProvider::from_disk(const CpuProgram& program,
                                        DiskMiss& miss) {
    if (!cpu::runs(program.plan.isa))
        fail(Code::UnsupportedTarget,
             {std::string(spelling_of(program.plan.isa)),
              "leave the target at its default, the host"});
    const DiskCache::Found found = disk_.load(program.key);
    Artifact artifact;
    miss = found.payload ? DiskMiss::Damaged : found.miss;
    if (!found.payload ||
        !deserialise(found.payload->data(), found.payload->size(), artifact))
        return nullptr;
    ++disk_hits_;
    return loaded(program, std::move(artifact));
}

KernelPointer KernelProvider::loaded(const CpuProgram& program,
                                     Artifact artifact) const {
    auto kernel = std::make_shared<const LoadedKernel>(std::move(artifact));
    if (perf_map_)
        cpu::write_perf_map(kernel->image, program.key.hex());
    return kernel;
}

/// Ends the compile where it takes longer than an untrusted formula's may.
Artifact
KernelProvider::compile_in_time(const CompileRequest& request,
                                const Backend::IsAbandoned& is_abandoned) {
    if (!untrusted_)
        return backend_.compile(request, pool_, is_abandoned);
    const auto end = std::chrono::steady_clock::now() + limits::compile_time;
    std::atomic<bool> is_late = false; // asked by each thread that compiles
    try {
        return backend_.compile(request, pool_, [&] {
            if (std::chrono::steady_clock::now() > end)
                is_late = true;
            return is_late || (is_abandoned && is_abandoned());
        });
    } catch (const Error&) {
        if (!is_late)
            throw;
    }
    const std::string most =
        std::to_string(limits::compile_time.count()) + " ms";
    fail(Code::UntrustedLimit,
         {"the compile of the formula", "more than " + most, most});
}

Artifact KernelProvider::compile(const CpuProgram& program,
                                 std::string_view formula, DiskMiss miss,
                                 const Backend::IsAbandoned& is_abandoned) {
    auto start = std::chrono::steady_clock::now();
    CompileRequest request = request_of(program);
    Artifact artifact = compile_in_time(request, is_abandoned);
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    ++compiles_;
    compile_milliseconds_ += taken.count();
    if (log_)
        log(formula, taken.count(), miss);
    disk_.store(program.key,
                {artifact.compiler, std::string(spelling_of(program.plan.isa)),
                 first_line(request.graph)},
                serialise(artifact));
    return artifact;
}

void KernelProvider::log(std::string_view formula, double milliseconds,
                         DiskMiss miss) const {
    std::fprintf(stderr,
                 "tilefold: compiled %.*s in %.1f ms (not in memory; disk: "
                 "%s)\n",
                 int(formula.size()), formula.data(), milliseconds,
                 spelling_of(miss).data());
}

Statistics KernelProvider::statistics() const {
    Statistics counted;
    counted.compiles = compiles_;
    counted.memory_hits = memory_hits_;
    counted.disk_hits = disk_hits_;
    counted.compile_milliseconds = compile_milliseconds_;
    return counted;
}

} // namespace tilefold
