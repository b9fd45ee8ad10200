// python_bindings/streams.h - on which stream of a device a call works: the
// caller's own, or the one that is current in the library of its arrays.
#pragma once

#include "python_bindings/array_kind.h"
#include "runtime/core/view.h"

#include <nanobind/nanobind.h>

#include <cstdint>

namespace tilefold::python {

namespace nb = nanobind;

/// A stream as drivers know it; see RunOptions::stream.
struct CallStream {
    void* handle = nullptr;
    /// The library of the arrays may use other streams, which nobody knows: a
    /// call then waits for its results before it lets the arrays go.
    bool is_unknown = false;
};

/// `given`: of Options(stream=…), may be invalid or None. `kind`: of the first
/// array on the device; null where it belongs to no library.
CallStream stream_of_call(nb::handle given, const ArrayKind* kind,
                          const Location& location);

/// An integer, or an object of PyTorch, CuPy or cuda.core, as a stream.
/// Throws Error(BadOption).
void* stream_of(nb::handle value);

/// What `__dlpack__(stream=…)` is told: 0 is no name of a stream there.
inline std::intptr_t dlpack_stream(void* handle) {
    constexpr std::intptr_t legacy_default = 1;
    return handle ? reinterpret_cast<std::intptr_t>(handle) : legacy_default;
}

} // namespace tilefold::python
