// runtime/cuda/backend.h - NVIDIA's GPUs as a DeviceBackend: NVRTC and the
// driver, opened when they are needed; images in memory and on disk.
#pragma once

#include "runtime/core/options.h"
#include "runtime/core/statistics.h"
#include "runtime/schedule/device_backend.h"

#include <memory>
#include <string>
#include <vector>

namespace tilefold::cuda {

/// `options` as resolved; `folders`: of libraries, from the environment.
/// `counters` outlive it.
std::unique_ptr<DeviceBackend>
make_backend(const Options& options, const std::vector<std::string>& folders,
             DeviceCounters& counters);

} // namespace tilefold::cuda
