// compiler/backends/cuda/image/gather.h - a kernel of no formula, which adds up
// what formulas' kernels left behind.
#pragma once

#include "compiler/backends/cuda/image/emit.h"

namespace tilefold::cuda {

#include "compiler/backends/cuda/device/gather_call.cuh"

/// Emits the kernel `gather`, whose blocks have as many threads as the plan's.
Emitted emit_gather(const Plan& plan);

} // namespace tilefold::cuda
