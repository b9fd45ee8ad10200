// runtime/cuda/capture.h - beside and on streams that are captured into a CUDA
// graph, as by torch.cuda.graph: what is queued on one runs when the graph is
// launched, as often as that is.
#pragma once

#include "runtime/cuda/driver.h"

#include <cstddef>

namespace tilefold::cuda {

/// As long as one lives, its thread may do what orders no work of a stream and
/// takes long, such as to load code: while any stream is captured, the driver
/// refuses that otherwise, and the capture fails.
class BesideCaptures {
public:
    explicit BesideCaptures(const Driver& driver);
    ~BesideCaptures();
    BesideCaptures(const BesideCaptures&) = delete;
    BesideCaptures& operator=(const BesideCaptures&) = delete;

private:
    const Driver& driver_;
    CUstreamCaptureMode mode_; ///< of the thread, before
};

/// Queues a copy of pageable memory of the host, which may go when it returns.
/// `what` is copied; throws Error(DeviceFailed).
void copy_to_device(const Driver& driver, CUdeviceptr to, const void* from,
                    std::size_t bytes, CUstream stream, const char* what);

} // namespace tilefold::cuda
