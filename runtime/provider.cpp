// runtime/provider.cpp - memory, disk, compiler, in this order.

#include "runtime/provider.h"

#include "compiler/hash.h"
#include "formulas/diagnostic.h"
#include "runtime/cpu/isa.h"
#include "runtime/options.h"

#include <chrono>
#include <cstdio>

namespace tilefold {
namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

} // namespace

KernelProvider::KernelProvider(const Options& options, Crew& crew)
    : crew_(crew), log_(*options.log), perf_map_(perf_map_wanted()),
      disk_(*options.cache_directory, *options.cache_size) {}

KernelPointer KernelProvider::kernel(const Program& program,
                                     std::string_view formula) {
    auto found = memory_.get(program.key,
                             [&] { return load_or_compile(program, formula); });
    memory_hits_ += found.was_there;
    return found.kernel;
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
                                    const char* what) {
    return backend_.explain(request, what);
}

KernelPointer KernelProvider::load_or_compile(const Program& program,
                                              std::string_view formula) {
    if (!cpu::runs(program.plan.isa))
        fail(Code::UnsupportedTarget,
             {std::string(spelling_of(program.plan.isa))});
    DiskCache::Found found = disk_.load(program.key);
    Artifact artifact;
    if (found.payload &&
        deserialise(found.payload->data(), found.payload->size(), artifact))
        ++disk_hits_;
    else
        artifact = compile(program, formula,
                           found.payload ? DiskMiss::Damaged : found.miss);
    auto kernel = std::make_shared<const LoadedKernel>(std::move(artifact));
    if (perf_map_)
        cpu::write_perf_map(kernel->image, program.key.hex());
    return kernel;
}

Artifact KernelProvider::compile(const Program& program,
                                 std::string_view formula, DiskMiss miss) {
    auto start = std::chrono::steady_clock::now();
    CompileRequest request = request_of(program);
    Artifact artifact = backend_.compile(request, crew_);
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
