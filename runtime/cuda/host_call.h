// runtime/cuda/host_call.h - a call whose arrays are the host's.
#pragma once

#include "compiler/passes/program.h"
#include "runtime/core/view.h"
#include "runtime/schedule/job.h"

#include <cstdint>
#include <span>

namespace tilefold::cuda {

struct HostCall {
    const tilefold::Job& job;       ///< every pointer is the host's
    std::span<const Bytes> on_host; ///< of operands
    const ir::Graph& graph;
    const Result& result;
    std::int64_t budget; ///< bytes of each device
};

} // namespace tilefold::cuda
