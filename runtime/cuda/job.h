// runtime/cuda/job.h - a call of the runtime as the GPU's launch code takes it.
#pragma once

#include "runtime/cuda/device_job.h"
#include "runtime/cuda/module.h"
#include "runtime/schedule/device_backend.h"

#include <span>

namespace tilefold::cuda {

/// What does not depend on where arrays are: sizes, lists, literals (so many
/// as the graph has), and whether results are added.
Job without_arrays(const tilefold::Job& job, std::size_t literals);

/// Runs a job of any number of batch dimensions: those that a kernel does not
/// know are a loop around it. `literals`: how many the graph has.
void run(const Module& module, const tilefold::Job& job, std::size_t literals,
         std::span<const Bytes> on_host, CUstream stream);

} // namespace tilefold::cuda
