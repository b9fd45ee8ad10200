// runtime/cuda/images.cpp - disk, NVRTC, in this order.

#include "runtime/cuda/images.h"

#include "formulas/diagnostic.h"

#include <charconv>
#include <cstdio>

namespace tilefold::cuda {
namespace {

NvrtcPaths nvrtc_paths(const Options& options,
                       const std::vector<std::string>& folders) {
    NvrtcPaths paths{options.package_folders, folders, true, {}};
    if (options.nvrtc)
        paths.file = *options.nvrtc;
    return paths;
}

} // namespace

std::string spelling_of(const Capability& capability) {
    return "sm_" + std::to_string(capability.major * 10 + capability.minor);
}

Capability parse_architecture(std::string_view text) {
    constexpr std::string_view prefix = "sm_";
    int number = 0;
    const char* end = text.data() + text.size();
    if (!text.starts_with(prefix) ||
        std::from_chars(text.data() + prefix.size(), end, number).ptr != end ||
        number < 10 || number > 999)
        fail(tilefold::Code::UnknownTarget,
             {std::string(text), "sm_80, sm_90, sm_100, sm_120 …"});
    return {number / 10, number % 10};
}

Images::Images(const Options& options, const std::vector<std::string>& folders,
               DeviceCounters& counters)
    : log_(*options.log), disk_(options), nvrtc_(nvrtc_paths(options, folders)),
      counters_(counters) {}

void Images::get(const Request& request, const Capability& capability,
                 const std::function<void(Image)>& load) {
    const DiskCache::Found found = disk_.load(request.key);
    DiskMiss miss = found.miss;
    if (found.payload) {
        miss = DiskMiss::Damaged;
        Image image;
        if (deserialise(*found.payload, image)) {
            try {
                load(std::move(image));
                ++counters_.disk_hits;
                return;
            } catch (const Error& error) {
                if (error.code() != tilefold::Code::DeviceFailed)
                    throw;
            }
        }
    }
    load(compile(request, capability, miss));
}

Image Images::compile(const Request& request, const Capability& capability,
                      DiskMiss miss) {
    Image image = request.compile();
    ++counters_.compiles;
    counters_.compile_milliseconds += image.compile_milliseconds;
    if (log_)
        std::fprintf(stderr,
                     "tilefold: compiled %.*s for %s in %.1f ms (not in "
                     "memory; disk: %s)\n",
                     int(request.formula.size()), request.formula.data(),
                     image.architecture.c_str(), image.compile_milliseconds,
                     tilefold::spelling_of(miss).data());
    disk_.store(request.key,
                {image.compiler, spelling_of(capability), request.summary},
                serialise(image));
    return image;
}

} // namespace tilefold::cuda
