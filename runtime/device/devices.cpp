// runtime/device/devices.cpp - which backend a device has, and where a call's
// arrays are.

#include "runtime/device/devices.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/environment.h"
#include "runtime/cuda/backend.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <unistd.h>

namespace tilefold {

Devices::Devices(const Options& options)
    : options_(options), folders_(library_folders()) {}

Devices::~Devices() = default;

DeviceBackend& Devices::cuda() {
    const std::lock_guard lock(mutex_);
    if (!cuda_)
        cuda_ = cuda::make_backend(options_, folders_, counters_);
    return *cuda_;
}

void Devices::check_fork(const Location& location) {
    const pid_t own = getpid();
    pid_t used_by = 0;
    if (!used_by_.compare_exchange_strong(used_by, own) && used_by != own)
        fail(Code::DeviceAfterFork, {spelling_of(location)});
}

DeviceBackend& Devices::of(const Location& location) {
    check_fork(location);
    switch (location.kind) {
    case Location::Kind::Host:
        internal_error("the host is no device");
    case Location::Kind::Cuda:
        break;
    }
    return cuda();
}

std::vector<Location> Devices::named(std::string_view text) {
    std::vector<int> numbers = parse_devices(text);
    if (std::ranges::count(numbers, every_device) != 0) {
        check_fork(Location::cuda(0));
        numbers.resize(std::size_t(cuda().devices()));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    std::vector<Location> devices;
    for (const int number : numbers)
        devices.push_back(Location::cuda(number));
    return devices;
}

DeviceBackend& Devices::of_architecture(std::string_view architecture) {
    if (!architecture.starts_with("sm_"))
        fail(Code::UnknownTarget,
             {std::string(architecture), "sm_80, sm_90, sm_100, sm_120"});
    return cuda();
}

void Devices::add_to(Statistics& statistics) const {
    statistics.compiles += counters_.compiles;
    statistics.memory_hits += counters_.memory_hits;
    statistics.disk_hits += counters_.disk_hits;
    statistics.compile_milliseconds += counters_.compile_milliseconds;
}

} // namespace tilefold
