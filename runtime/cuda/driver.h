// runtime/cuda/driver.h - NVIDIA's driver, opened when the GPU is first used:
// its entry points with the types of NVIDIA's cuda.h, its errors as
// diagnostics.
#pragma once

#include "runtime/cuda/shared_library.h"

#include <cstddef>
#include <cuda.h>
#include <string>

namespace tilefold::cuda {

/// The entry points that are used, by the names under which the driver gives
/// them out. Immutable once opened.
class Driver {
public:
    /// Opens `library` ("libcuda.so.1") and initialises it. Throws
    /// Error(DriverMissing), Error(DriverTooOld) or Error(NoDevice).
    explicit Driver(const std::string& library);

    /// The oldest CUDA version whose entry points are enough: 12.0.
    static constexpr int oldest_version = 12000;

    int version() const { return version_; } ///< 13000: CUDA 13.0
    std::string spelled_version() const;     ///< "13.0"
    int devices() const { return devices_; }
    /// What the driver calls an error.
    std::string text_of(CUresult status) const;
    /// Throws Error(DeviceFailed) unless `status` is success.
    void check(CUresult status, const char* what) const;

#define TILEFOLD_DRIVER_FUNCTIONS(ENTRY)                                       \
    ENTRY(cuDeviceGet)                                                         \
    ENTRY(cuDeviceGetAttribute)                                                \
    ENTRY(cuDevicePrimaryCtxRetain)                                            \
    ENTRY(cuDevicePrimaryCtxRelease)                                           \
    ENTRY(cuCtxPushCurrent)                                                    \
    ENTRY(cuCtxPopCurrent)                                                     \
    ENTRY(cuModuleLoadData)                                                    \
    ENTRY(cuModuleUnload)                                                      \
    ENTRY(cuModuleGetFunction)                                                 \
    ENTRY(cuFuncSetAttribute)                                                  \
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor)                         \
    ENTRY(cuLaunchKernel)                                                      \
    ENTRY(cuMemPoolCreate)                                                     \
    ENTRY(cuMemPoolSetAttribute)                                               \
    ENTRY(cuMemPoolDestroy)                                                    \
    ENTRY(cuMemAllocFromPoolAsync)                                             \
    ENTRY(cuMemFreeAsync)                                                      \
    ENTRY(cuMemcpyHtoDAsync)                                                   \
    ENTRY(cuMemcpyDtoHAsync)                                                   \
    ENTRY(cuMemHostAlloc)                                                      \
    ENTRY(cuMemFreeHost)                                                       \
    ENTRY(cuStreamCreate)                                                      \
    ENTRY(cuStreamDestroy)                                                     \
    ENTRY(cuEventCreate)                                                       \
    ENTRY(cuEventRecord)                                                       \
    ENTRY(cuEventDestroy)                                                      \
    ENTRY(cuEventSynchronize)                                                  \
    ENTRY(cuStreamWaitEvent)                                                   \
    ENTRY(cuStreamSynchronize)                                                 \
    ENTRY(cuThreadExchangeStreamCaptureMode)                                   \
    ENTRY(cuUserObjectCreate)                                                  \
    ENTRY(cuUserObjectRelease)                                                 \
    ENTRY(cuGraphRetainUserObject)

    // The functions have the types that cuda.h declares.
#define TILEFOLD_DRIVER_ENTRY(name) decltype(&::name) name = nullptr;
    TILEFOLD_DRIVER_FUNCTIONS(TILEFOLD_DRIVER_ENTRY)
#undef TILEFOLD_DRIVER_ENTRY

    /// cuStreamGetCaptureInfo. Its type stands here, since the driver is asked
    /// for the form that CUDA 12.0 had, the second, and the cuda.h of CUDA 13
    /// declares the third one under that name.
    CUresult(CUDAAPI* stream_capture_info)(CUstream, CUstreamCaptureStatus*,
                                           cuuint64_t*, CUgraph*,
                                           const CUgraphNode**,
                                           std::size_t*) = nullptr;

private:
    void find_entries();

    SharedLibrary library_;
    int version_ = 0, devices_ = 0;
    decltype(&cuGetErrorString) error_string_ = nullptr;
};

} // namespace tilefold::cuda
