// runtime/cuda/images.h - compiled images: from disk, else from NVRTC.
#pragma once

#include "compiler/artifact/key.h"
#include "compiler/backends/cuda/image/image.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/core/options.h"
#include "runtime/core/statistics.h"
#include "runtime/cuda/nvrtc.h"

#include <functional>
#include <string>
#include <string_view>

namespace tilefold::cuda {

/// The compute capability behind "sm_90": 9 and 0.
struct Capability {
    int major = 0, minor = 0;
};
std::string spelling_of(const Capability& capability); ///< "sm_90"
/// Throws Error(UnknownTarget).
Capability parse_architecture(std::string_view text);

/// Thread-safe.
class Images {
public:
    /// `options` as resolved.
    Images(const Options& options, const std::vector<std::string>& folders,
           DeviceCounters& counters);

    /// What is compiled of a source, named for the cache and for the log.
    struct Request {
        Key key;
        std::string_view formula;
        std::string summary; ///< first line of the graph
        std::function<Image()> compile;
    };
    /// Hands the image to `load`: that of the disk, unless it is damaged or
    /// `load` throws, for which a new one is compiled, stored and loaded.
    void get(const Request& request, const Capability& capability,
             const std::function<void(Image)>& load);

    Nvrtc& compiler() { return nvrtc_; }

private:
    Image compile(const Request& request, const Capability& capability,
                  DiskMiss miss);

    bool log_;
    DiskCache disk_;
    Nvrtc nvrtc_;
    DeviceCounters& counters_;
};

} // namespace tilefold::cuda
