// runtime/cuda/capture.cpp - see capture.h.

#include "runtime/cuda/capture.h"

#include <memory>
#include <vector>

namespace tilefold::cuda {
namespace {

using Kept = std::vector<char>;

/// The graph that a stream is captured into; null where it is not captured.
CUgraph graph_of(const Driver& driver, CUstream stream) {
    // The default stream is never captured, and to ask it while another stream
    // is captured is an error.
    if (!stream)
        return nullptr;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = nullptr;
    const bool answers =
        driver.stream_capture_info(stream, &status, nullptr, &graph, nullptr,
                                   nullptr) == CUDA_SUCCESS;
    return answers && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph
                                                                : nullptr;
}

/// The driver calls it when no graph holds the bytes any more, in a thread of
/// its own.
void CUDA_CB forget(void* kept) {
    delete static_cast<Kept*>(kept);
}

/// A copy of the bytes that lives as long as the graph and what is made of it.
const void* kept_by(CUgraph graph, const Driver& driver, const void* from,
                    std::size_t bytes, const char* what) {
    const auto* first = static_cast<const char*>(from);
    auto kept = std::make_unique<Kept>(first, first + bytes);
    CUuserObject object = nullptr;
    driver.check(driver.cuUserObjectCreate(&object, kept.get(), forget, 1,
                                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                 what);
    const void* data = kept.release()->data();
    const CUresult status = driver.cuGraphRetainUserObject(
        graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (status != CUDA_SUCCESS)
        driver.cuUserObjectRelease(object, 1);
    driver.check(status, what);
    return data;
}

} // namespace

BesideCaptures::BesideCaptures(const Driver& driver)
    : driver_(driver), mode_(CU_STREAM_CAPTURE_MODE_RELAXED) {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
}

BesideCaptures::~BesideCaptures() {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
}

/// Pageable memory is copied away before the driver returns, but a graph reads
/// it again whenever it is launched.
void copy_to_device(const Driver& driver, CUdeviceptr to, const void* from,
                    std::size_t bytes, CUstream stream, const char* what) {
    if (bytes == 0)
        return;
    if (CUgraph graph = graph_of(driver, stream))
        from = kept_by(graph, driver, from, bytes, what);
    driver.check(driver.cuMemcpyHtoDAsync(to, from, bytes, stream), what);
}

} // namespace tilefold::cuda
