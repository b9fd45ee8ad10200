// runtime/cuda/backend.h - NVIDIA's GPUs as a DeviceBackend: NVRTC and the
// driver, opened when they are needed; images in memory and on disk.
#pragma once

#include "runtime/device_backend.h"
#include "runtime/options.h"
#include "runtime/statistics.h"

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
