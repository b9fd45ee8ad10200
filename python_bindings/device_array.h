// python_bindings/device_array.h - tilefold.DeviceArray: a result on a device,
// lent to other libraries through DLPack.
#pragma once

#include "runtime/schedule/device_backend.h"
#include "runtime/session/session.h"

#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace tilefold::python {

namespace nb = nanobind;

/// C-contiguous. Owns its memory.
class DeviceArray {
public:
    /// Memory for a result of `bound`, written on `stream`.
    DeviceArray(const Bound& bound, void* stream, DType dtype,
                const Extents& shape, bool is_complex);

    void* data() const { return memory_->data(); }
    const std::vector<std::int64_t>& shape() const { return shape_; }
    const DLDataType& type() const { return type_; }
    const Location& location() const { return location_; }
    void* stream() const { return stream_; }
    /// What is queued on `stream` from now on finds what was written.
    void let_wait(void* stream) const { memory_->let_wait(stream); }

private:
    Bound owner_; ///< of the session, which outlives the memory
    Location location_;
    void* stream_;
    std::vector<std::int64_t> shape_;
    DLDataType type_;
    DeviceMemoryPointer memory_;
};

void bind_device_array(nb::module_& module);

} // namespace tilefold::python
