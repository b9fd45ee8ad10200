// compiler/backends/cuda/image/gather.cpp - the source of the kernel `gather`.

#include "compiler/backends/cuda/image/gather.h"

#include "compiler/backends/cuda/text/writer.h"
#include "cuda_device_sources.h"

namespace tilefold::cuda {

Emitted emit_gather(const Plan& plan) {
    Writer writer;
    writer.constant("threads", plan.threads);
    Emitted emitted;
    emitted.source.frame = writer.take().append(device::gather_call);
    emitted.source.loops = std::string(device::gather);
    emitted.shape.reduces = false;
    return emitted;
}

} // namespace tilefold::cuda
