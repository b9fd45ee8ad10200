// compiler/backends/cuda/image/call.h - a kernel's argument, as the host fills
// it. The kernels' own has as many operands as their graph: a driver copies no
// more than that.
#pragma once

namespace tilefold::cuda {

/// A formula on the GPU has at most so many arguments.
constexpr int operand_count = 48;

#include "compiler/backends/cuda/device/call.cuh"

} // namespace tilefold::cuda
