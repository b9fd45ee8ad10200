// runtime/cuda/host_run.h - a call whose arrays are the host's, computed on
// devices: in pieces that fit a budget of their memory, one on its way while
// another one is computed.
#pragma once

#include "runtime/core/callbacks.h"
#include "runtime/cuda/host_call.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/transfer.h"

#include <memory>
#include <span>

namespace tilefold::cuda {

/// What a device keeps between such calls: streams and pinned memory.
class DeviceContext {
public:
    explicit DeviceContext(const Device& device);
    ~DeviceContext();
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;

    struct Parts {
        explicit Parts(const Device& device)
            : copies(device), computes{OwnStream(device), OwnStream(device)},
              transfer(device) {}
        OwnStream copies, computes[2];
        Transfer transfer;
    };
    Parts& parts() { return *parts_; }

private:
    const Device& device_;
    std::unique_ptr<Parts> parts_;
};

/// The share of one device in a call; what is pointed to outlives it.
struct DeviceShare {
    const Module* module;
    DeviceContext* station;
};

/// Returns when it is done. The calling thread works for the first of `sharers`
/// and polls. Throws Error(OutOfMemory) where no piece fits the budget, and
/// Error(Cancelled).
void run_from_host(const HostCall& call, std::span<const DeviceShare> sharers,
                   const Poll& poll);

} // namespace tilefold::cuda
