// runtime/schedule/device_backend.h - what a session asks of a kind of device:
// kernels of programs, memory, and work on a queue of the caller's. CUDA is
// one.
//
// What holds of every backend:
//  1. Nothing is opened or initialised before the first call that needs it.
//  2. run() queues work on the caller's stream, in order; nothing waits for it.
//  3. What run() is given of the host's memory is copied before it returns.
//  4. The bits of a result depend on sizes and on the kernel alone.
//  5. Thread-safe.
#pragma once

#include "compiler/ir/explain_section.h"
#include "compiler/passes/program.h"
#include "runtime/core/callbacks.h"
#include "runtime/core/view.h"
#include "runtime/schedule/job.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Code in a device; what it is, its backend knows.
class DeviceKernel {
public:
    DeviceKernel() = default;
    virtual ~DeviceKernel() = default;
    DeviceKernel(const DeviceKernel&) = delete;
    DeviceKernel& operator=(const DeviceKernel&) = delete;
};
using DeviceKernelPointer = std::shared_ptr<const DeviceKernel>;

/// A queue of a device, as its driver knows it; null: the default one.
using Stream = void*;

/// Memory of a device, taken and given back in the order of a stream.
class DeviceMemory {
public:
    DeviceMemory() = default;
    virtual ~DeviceMemory() = default;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    virtual char* data() const = 0;
    /// Makes work that is queued on `other` from now on wait for what is
    /// queued on the stream of this memory by now.
    virtual void let_wait(Stream other) const = 0;
};
using DeviceMemoryPointer = std::unique_ptr<DeviceMemory>;

/// Elements of an array of a device, added up and written to another one.
/// Extents in the order of C; strides in bytes.
struct StridedReduction {
    struct Axis {
        std::int64_t extent = 1, stride = 0;
    };
    /// Most axes of each list.
    static constexpr std::size_t most_axes = 8;

    const char* from = nullptr; ///< null: zeros
    DType from_dtype = DType::F64;
    std::vector<Axis> kept, summed; ///< of `from`
    char* to = nullptr;
    DType to_dtype = DType::F64;
    std::vector<Axis> written; ///< of `to`: as many elements as `kept`
    bool accumulate = false;
};

/// Sets what is written: all of `out`.
void write_to(StridedReduction& gathering, const Output& out, bool accumulate);

class DeviceBackend {
public:
    DeviceBackend() = default;
    virtual ~DeviceBackend() = default;
    DeviceBackend(const DeviceBackend&) = delete;
    DeviceBackend& operator=(const DeviceBackend&) = delete;

    /// The kernel of a program for arguments whose open width is `width`, in
    /// the device of that number: found, or compiled. `tolerance` is that of
    /// its products. Throws Error.
    virtual DeviceKernelPointer kernel(int device, const Program& program,
                                       std::int64_t width, double tolerance,
                                       std::string_view formula) = 0;
    /// Queues `job`, whose pointers are the device's, but for its lists, its
    /// literals, and the operands of which `on_host` has the bytes.
    virtual void run(const DeviceKernel& kernel, const Job& job,
                     std::span<const Bytes> on_host, Stream stream) = 0;
    /// Runs `job`, whose pointers are all the host's, on several devices
    /// together, by the kernel of `program` in each, in pieces of at most
    /// `budget` bytes on each; returns when it is done. The bits of a result do
    /// not depend on how many devices there are. Throws Error(OutOfMemory,
    /// Cancelled).
    virtual void run_from_host(std::span<const DeviceKernelPointer> kernels,
                               const Program& program, const Job& job,
                               std::span<const Bytes> on_host,
                               std::int64_t budget, const Poll& poll) = 0;
    /// How many devices there are.
    virtual int devices() = 0;
    /// Throws Error(OutOfMemory): `what` needs it, `cure`.
    virtual DeviceMemoryPointer allocate(int device, std::size_t bytes,
                                         Stream stream, const char* what,
                                         const char* cure) = 0;
    virtual void gather(int device, const StridedReduction& gathering,
                        Stream stream) = 0;
    /// Waits for all that is queued on the stream.
    virtual void finish(int device, Stream stream) = 0;
    /// Describes drivers and compilers, a line each: what there is, or is
    /// missing.
    virtual std::vector<std::string> describe() = 0;
    /// What `program` becomes for an architecture ("sm_90"): needs no device.
    virtual std::vector<ExplainSection>
    explain(const Program& program, std::int64_t width, double tolerance,
            std::string_view architecture) = 0;
};

} // namespace tilefold
