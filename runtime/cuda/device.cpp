// runtime/cuda/device.cpp - context, modules and memory of one GPU.

#include "runtime/cuda/device.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <utility>
#include <vector>

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

namespace {

std::vector<const char*> kernels_of(const Shape& shape) {
    std::vector<const char*> kernels = {"prepare"};
    if (shape.reduces)
        kernels.insert(kernels.end(), {"accumulate", "finish"});
    else
        kernels.insert(kernels.end(), {"zip", "dense"});
    if (shape.folds_rows)
        kernels.push_back("merge_states");
    return kernels;
}

/// The attribute of a kernel whose blocks have more shared memory than is
/// common.
constexpr int most_dynamic_shared = 8;
constexpr int success = 0;

} // namespace

Module::Module(const Device& device, Image image)
    : Module(device, image, kernels_of(image.shape)) {}

Module::Module(const Device& device, Image image,
               std::span<const char* const> kernels)
    : device_(device), image_(std::move(image)) {
    const Device::Current current(device);
    const Driver& driver = device.driver();
    for (const auto& code : image_.codes)
        driver.check(driver.cuModuleLoadData(
                         &loaded_.handles.emplace_back(nullptr), code.data()),
                     ("a kernel for " + image_.architecture).c_str());
    for (const char* kernel : kernels)
        find(kernel);
}

Module::Loaded::~Loaded() {
    device.give_back([&] {
        for (ModuleHandle handle : handles)
            if (handle)
                device.driver().cuModuleUnload(handle);
    });
}

void Module::find(const char* kernel) {
    const Driver& driver = device_.driver();
    Kernel found;
    int status = 0;
    for (ModuleHandle handle : loaded_.handles) {
        status = driver.cuModuleGetFunction(&found.function, handle, kernel);
        if (status == success)
            break;
    }
    driver.check(status, kernel);
    if (std::string_view(kernel) == "accumulate")
        found.shared_bytes = unsigned(image_.shape.shared_bytes);
    if (found.shared_bytes > common_shared)
        driver.check(driver.cuFuncSetAttribute(found.function,
                                               most_dynamic_shared,
                                               int(found.shared_bytes)),
                     ("blocks with " + std::to_string(found.shared_bytes) +
                      " bytes of shared memory")
                         .c_str());
    int blocks = 0;
    driver.check(
        driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, found.function, image_.plan.threads, found.shared_bytes),
        kernel);
    found.resident = std::int64_t(std::max(blocks, 1)) *
                     std::max(device_.multiprocessors(), 1);
    kernels_.emplace(kernel, found);
}

void Module::launch(const char* kernel, Grid grid, void* argument,
                    StreamHandle stream) const {
    if (grid.x <= 0 || grid.y <= 0 || grid.z <= 0)
        return;
    const auto found = kernels_.find(std::string_view(kernel));
    if (found == kernels_.end())
        internal_error(std::string("no kernel ") + kernel);
    if (grid.strides)
        grid.x = std::min(grid.x, found->second.resident);
    constexpr std::int64_t most_in_x = 0x7fffffff;
    if (grid.x > most_in_x || grid.y > most_blocks || grid.z > most_blocks)
        internal_error("a grid that no device takes");
    void* arguments[] = {argument};
    const Driver& driver = device_.driver();
    driver.check(driver.cuLaunchKernel(
                     found->second.function, unsigned(grid.x), unsigned(grid.y),
                     unsigned(grid.z), unsigned(image_.plan.threads), 1, 1,
                     found->second.shared_bytes, stream, arguments, nullptr),
                 kernel);
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
