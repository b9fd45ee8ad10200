// runtime/cuda/module.h - an image that was loaded into a GPU: its kernels, and
// how they are launched.
#pragma once

#include "compiler/backends/cuda/image/image.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/parameters.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tilefold::cuda {

/// Blocks of a launch. Where they `stride`, no more are started in x than run
/// at the same time: each goes on with what lies a grid further.
struct Grid {
    std::int64_t x = 1, y = 1, z = 1;
    bool strides = false;
};
/// Most in y, and in z.
inline constexpr std::int64_t most_blocks = 65535;

/// An image in a device. Throws Error(DeviceFailed) where it is for another
/// one.
class Module {
public:
    Module(const Device& device, Image image);
    /// Loads these kernels alone.
    Module(const Device& device, Image image,
           std::span<const char* const> kernels);
    ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    const Image& image() const { return image_; }
    const Device& device() const { return device_; }
    /// The parameters of its calls, kept for the next one.
    ParameterCache& kept() const { return kept_; }
    /// Queues a kernel of blocks of the plan's threads; nothing waits.
    void launch(const char* kernel, Grid grid, void* argument,
                CUstream stream) const;

private:
    struct Kernel {
        CUfunction function = nullptr;
        unsigned shared_bytes = 0; ///< that a launch gives a block
        std::int64_t resident = 1; ///< blocks that run at the same time
    };
    void find(const char* kernel);
    struct Loaded { ///< unloaded with it
        const Device& device;
        std::vector<CUmodule> handles; ///< by program
        ~Loaded();
    };

    const Device& device_;
    Image image_;
    Loaded loaded_{device_, {}};
    std::map<std::string, Kernel, std::less<>> kernels_;
    mutable ParameterCache kept_;
};

} // namespace tilefold::cuda
