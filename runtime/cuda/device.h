// runtime/cuda/device.h - one GPU: its primary context, its sizes, and memory
// that follows the order of a stream.
#pragma once

#include "compiler/backends/cuda/image/image.h"
#include "runtime/cuda/driver.h"

#include <cstddef>
#include <functional>

namespace tilefold::cuda {

/// Keeps the primary context, the one that PyTorch and CuPy use. What is
/// called on it makes that context current for the time of the call.
class Device {
public:
    /// Throws Error(NoSuchDevice).
    Device(const Driver& driver, int number);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Driver& driver() const { return driver_; }
    int number() const { return number_; }
    int major() const { return major_; } ///< compute capability
    int minor() const { return minor_; }
    int multiprocessors() const { return multiprocessors_; }
    /// Memory that calls take and give back; some of it is kept for the next.
    CUmemoryPool pool() const { return pool_; }

    /// Makes the context current as long as it lives.
    class Current {
    public:
        explicit Current(const Device& device);
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        const Driver& driver_;
    };

    /// Does what gives something back, in the context; nothing where the driver
    /// has gone before, as when a process ends, and everything with it.
    void give_back(const std::function<void()>& give) const noexcept;

private:
    const Driver& driver_;
    int number_;
    CUdevice handle_ = 0;
    CUcontext context_ = nullptr;
    CUmemoryPool pool_ = nullptr;
    int major_ = 0, minor_ = 0, multiprocessors_ = 0;
};

/// Memory from the device's pool, in the order of a stream: taken and given
/// back without waiting.
class StreamMemory {
public:
    /// `what` needs it; throws Error(OutOfMemory), with a cure.
    StreamMemory(const Device& device, std::size_t bytes, CUstream stream,
                 const char* what,
                 const char* cure = "compute fewer rows at a time, or free "
                                    "memory of the GPU");
    ~StreamMemory();
    StreamMemory(StreamMemory&& other) noexcept;

    char* data() const { return reinterpret_cast<char*>(pointer_); }
    /// What is queued on `other` from now on waits for this stream.
    void let_wait(CUstream other) const;

private:
    const Device* device_;
    CUstream stream_;
    CUdeviceptr pointer_ = 0;
};

} // namespace tilefold::cuda
