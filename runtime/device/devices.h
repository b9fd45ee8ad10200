// runtime/device/devices.h - the kinds of devices of a session, each made when
// an array of it is first met.
#pragma once

#include "runtime/core/options.h"
#include "runtime/core/statistics.h"
#include "runtime/schedule/device_backend.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tilefold {

/// Thread-safe.
class Devices {
public:
    /// `options` as resolved.
    explicit Devices(const Options& options);
    ~Devices();

    /// The backend of a device. Throws Error(DeviceAfterFork) where another
    /// process, of which this one is a fork, has used it: no driver allows
    /// that. Opens nothing by itself.
    DeviceBackend& of(const Location& location);
    /// Those of Options::devices, which compute calls whose arrays are the
    /// host's; none: the CPU does. Opens the driver where they are all there
    /// are.
    std::vector<Location> named(std::string_view text);
    /// The backend for an architecture, "sm_90".
    DeviceBackend& of_architecture(std::string_view architecture);
    /// What the driver and the compiler of GPUs are, or why there is none.
    std::vector<std::string> describe() { return cuda().describe(); }
    void add_to(Statistics& statistics) const;

private:
    DeviceBackend& cuda();
    void check_fork(const Location& location);
    const Options options_;
    /// The folders of the environment in which libraries may be.
    const std::vector<std::string> folders_;
    DeviceCounters counters_;
    std::mutex mutex_;
    std::unique_ptr<DeviceBackend> cuda_;
    std::atomic<pid_t> used_by_ = 0;
};

} // namespace tilefold
