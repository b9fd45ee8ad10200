// runtime/cuda/device.cpp - context and memory of one GPU.

#include "runtime/cuda/device.h"

#include "formulas/diagnostic.h"
#include "runtime/cuda/capture.h"

#include <string>
#include <utility>

namespace tilefold::cuda {
namespace {

/// The bytes that a pool keeps while nobody uses them.
constexpr std::uint64_t kept_bytes = 64 << 20;

std::string spelled_bytes(std::size_t bytes) {
    constexpr double mebibyte = 1 << 20;
    return std::to_string(std::size_t(double(bytes) / mebibyte) + 1) + " MiB";
}

} // namespace

Device::Device(const Driver& driver, int number)
    : driver_(driver), number_(number) {
    if (number < 0 || number >= driver.devices())
        fail(tilefold::Code::NoSuchDevice,
             {std::to_string(number), std::to_string(driver.devices())});
    const BesideCaptures beside(driver);
    driver.check(driver.cuDeviceGet(&handle_, number), "to open it");
    const auto attribute = [&](CUdevice_attribute which) {
        int value = 0;
        driver.check(driver.cuDeviceGetAttribute(&value, which, handle_),
                     "to describe itself");
        return value;
    };
    major_ = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    minor_ = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    driver.check(driver.cuDevicePrimaryCtxRetain(&context_, handle_),
                 "its context");
    // A pool of its own is made, since of the device's others have set what is
    // kept: by default nothing, which makes the next call wait for the system.
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = number;
    driver.check(driver.cuMemPoolCreate(&pool_, &properties), "memory");
    std::uint64_t kept = kept_bytes;
    driver.check(driver.cuMemPoolSetAttribute(
                     pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept),
                 "memory");
}

Device::~Device() {
    driver_.cuMemPoolDestroy(pool_);
    driver_.cuDevicePrimaryCtxRelease(handle_);
}

Device::Current::Current(const Device& device) : driver_(device.driver_) {
    driver_.check(driver_.cuCtxPushCurrent(device.context_), "its context");
}

void Device::give_back(const std::function<void()>& give) const noexcept {
    try {
        const Current current(*this);
        const BesideCaptures beside(driver_);
        give();
    } catch (const tilefold::Error&) {
    }
}

Device::Current::~Current() {
    CUcontext popped = nullptr;
    driver_.cuCtxPopCurrent(&popped);
}

StreamMemory::StreamMemory(const Device& device, std::size_t bytes,
                           CUstream stream, const char* what, const char* cure)
    : device_(&device), stream_(stream) {
    if (bytes == 0)
        return;
    const Driver& driver = device.driver();
    const CUresult status =
        driver.cuMemAllocFromPoolAsync(&pointer_, bytes, device.pool(), stream);
    if (status == CUDA_ERROR_INVALID_HANDLE ||
        status == CUDA_ERROR_INVALID_CONTEXT)
        fail(tilefold::Code::StreamElsewhere,
             {"cuda:" + std::to_string(device.number())});
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        fail(tilefold::Code::OutOfMemory,
             {what, spelled_bytes(bytes) + " on the GPU", cure});
    driver.check(status, "memory");
}

StreamMemory::~StreamMemory() {
    if (pointer_)
        device_->driver().cuMemFreeAsync(pointer_, stream_);
}

void StreamMemory::let_wait(CUstream other) const {
    if (other == stream_ || !pointer_)
        return;
    const Driver& driver = device_->driver();
    const Device::Current current(*device_);
    CUevent event = nullptr;
    driver.check(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING),
                 "an event");
    CUresult status = driver.cuEventRecord(event, stream_);
    if (status == CUDA_SUCCESS)
        status = driver.cuStreamWaitEvent(other, event, 0);
    driver.cuEventDestroy(event);
    driver.check(status, "to let a stream wait");
}

StreamMemory::StreamMemory(StreamMemory&& other) noexcept
    : device_(other.device_), stream_(other.stream_),
      pointer_(std::exchange(other.pointer_, 0)) {}

} // namespace tilefold::cuda
