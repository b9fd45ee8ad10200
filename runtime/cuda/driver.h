// runtime/cuda/driver.h - NVIDIA's driver, opened when the GPU is first used:
// its entry points as plain C, its errors as diagnostics.
#pragma once

#include "runtime/cuda/shared_library.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilefold::cuda {

using DeviceNumber = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct CUctx_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using PoolHandle = struct CUmemPoolHandle_st*;

/// As the driver has it: zeros mean what is usual.
struct PoolProperties {
    int allocation_type = 1; ///< pinned, on the device
    int handle_types = 0;
    int location_type = 1; ///< a device
    int location = 0;      ///< its number
    void* reserved_pointer = nullptr;
    std::size_t most_bytes = 0;
    unsigned char reserved[56] = {};
};

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
    std::string text_of(int status) const;
    /// Throws Error(DeviceFailed) unless `status` is success.
    void check(int status, const char* what) const;

#define TILEFOLD_DRIVER_FUNCTIONS(ENTRY)                                       \
    ENTRY(cuDeviceGet, (DeviceNumber*, int))                                   \
    ENTRY(cuDeviceGetAttribute, (int*, int, DeviceNumber))                     \
    ENTRY(cuDevicePrimaryCtxRetain, (ContextHandle*, DeviceNumber))            \
    ENTRY(cuDevicePrimaryCtxRelease, (DeviceNumber))                           \
    ENTRY(cuCtxPushCurrent, (ContextHandle))                                   \
    ENTRY(cuCtxPopCurrent, (ContextHandle*))                                   \
    ENTRY(cuModuleLoadData, (ModuleHandle*, const void*))                      \
    ENTRY(cuModuleUnload, (ModuleHandle))                                      \
    ENTRY(cuModuleGetFunction, (FunctionHandle*, ModuleHandle, const char*))   \
    ENTRY(cuFuncSetAttribute, (FunctionHandle, int, int))                      \
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor,                         \
          (int*, FunctionHandle, int, std::size_t))                            \
    ENTRY(cuLaunchKernel,                                                      \
          (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,   \
           unsigned, unsigned, StreamHandle, void**, void**))                  \
    ENTRY(cuMemPoolCreate, (PoolHandle*, const PoolProperties*))               \
    ENTRY(cuMemPoolSetAttribute, (PoolHandle, int, void*))                     \
    ENTRY(cuMemPoolDestroy, (PoolHandle))                                      \
    ENTRY(cuMemAllocFromPoolAsync,                                             \
          (DevicePointer*, std::size_t, PoolHandle, StreamHandle))             \
    ENTRY(cuMemFreeAsync, (DevicePointer, StreamHandle))                       \
    ENTRY(cuMemcpyHtoDAsync,                                                   \
          (DevicePointer, const void*, std::size_t, StreamHandle))             \
    ENTRY(cuMemcpyDtoHAsync,                                                   \
          (void*, DevicePointer, std::size_t, StreamHandle))                   \
    ENTRY(cuMemHostAlloc, (void**, std::size_t, unsigned))                     \
    ENTRY(cuMemFreeHost, (void*))                                              \
    ENTRY(cuStreamCreate, (StreamHandle*, unsigned))                           \
    ENTRY(cuStreamDestroy, (StreamHandle))                                     \
    ENTRY(cuEventCreate, (EventHandle*, unsigned))                             \
    ENTRY(cuEventRecord, (EventHandle, StreamHandle))                          \
    ENTRY(cuEventDestroy, (EventHandle))                                       \
    ENTRY(cuEventSynchronize, (EventHandle))                                   \
    ENTRY(cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned))            \
    ENTRY(cuStreamSynchronize, (StreamHandle))

#define TILEFOLD_DRIVER_ENTRY(name, parameters) int(*name) parameters = nullptr;
    TILEFOLD_DRIVER_FUNCTIONS(TILEFOLD_DRIVER_ENTRY)
#undef TILEFOLD_DRIVER_ENTRY

private:
    void find_entries();

    SharedLibrary library_;
    int version_ = 0, devices_ = 0;
    int (*error_string_)(int, const char**) = nullptr;
};

/// Statuses that mean something of their own.
inline constexpr int driver_success = 0, driver_out_of_memory = 2,
                     driver_no_binary = 209, driver_invalid_context = 201,
                     driver_invalid_handle = 400;

} // namespace tilefold::cuda
