// runtime/cuda/device.cpp - context and memory of one GPU.

#include "runtime/cuda/device.h"

#include "formulas/diagnostic.h"

#include <string>
#include <utility>

namespace tilefold::cuda {
namespace {

/// Numbers of cuDeviceGetAttribute.
constexpr int multiprocessor_count = 16, capability_major = 75,
              capability_minor = 76;

/// Of a pool, while nobody uses them.
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
    driver.check(driver.cuDeviceGet(&handle_, number), "to open it");
    const auto attribute = [&](int which) {
        int value = 0;
        driver.check(driver.cuDeviceGetAttribute(&value, which, handle_),
                     "to describe itself");
        return value;
    };
    major_ = attribute(capability_major);
    minor_ = attribute(capability_minor);
    multiprocessors_ = attribute(multiprocessor_count);
    driver.check(driver.cuDevicePrimaryCtxRetain(&context_, handle_),
                 "its context");
    // Not the device's own pool, of which others have set what is kept: by
    // default nothing, which makes the next call wait for the system.
    PoolProperties properties;
    properties.location = number;
    driver.check(driver.cuMemPoolCreate(&pool_, &properties), "memory");
    constexpr int release_threshold = 4;
    std::uint64_t kept = kept_bytes;
    driver.check(driver.cuMemPoolSetAttribute(pool_, release_threshold, &kept),
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
        give();
    } catch (const tilefold::Error&) {
    }
}

Device::Current::~Current() {
    ContextHandle popped = nullptr;
    driver_.cuCtxPopCurrent(&popped);
}

StreamMemory::StreamMemory(const Device& device, std::size_t bytes,
                           StreamHandle stream, const char* what,
                           const char* cure)
    : device_(&device), stream_(stream) {
    if (bytes == 0)
        return;
    const Driver& driver = device.driver();
    const int status =
        driver.cuMemAllocFromPoolAsync(&pointer_, bytes, device.pool(), stream);
    if (status == driver_invalid_handle || status == driver_invalid_context)
        fail(tilefold::Code::StreamElsewhere,
             {"cuda:" + std::to_string(device.number())});
    if (status == driver_out_of_memory)
        fail(tilefold::Code::OutOfMemory,
             {what, spelled_bytes(bytes) + " on the GPU", cure});
    driver.check(status, "memory");
}

StreamMemory::~StreamMemory() {
    if (pointer_)
        device_->driver().cuMemFreeAsync(pointer_, stream_);
}

void StreamMemory::let_wait(StreamHandle other) const {
    if (other == stream_ || !pointer_)
        return;
    const Driver& driver = device_->driver();
    const Device::Current current(*device_);
    EventHandle event = nullptr;
    constexpr unsigned without_timing = 2;
    driver.check(driver.cuEventCreate(&event, without_timing), "an event");
    int status = driver.cuEventRecord(event, stream_);
    if (status == driver_success)
        status = driver.cuStreamWaitEvent(other, event, 0);
    driver.cuEventDestroy(event);
    driver.check(status, "to let a stream wait");
}

StreamMemory::StreamMemory(StreamMemory&& other) noexcept
    : device_(other.device_), stream_(other.stream_),
      pointer_(std::exchange(other.pointer_, 0)) {}

} // namespace tilefold::cuda
