// python_bindings/frames.h - values that are read as arrays, but are none: what
// tilefold.frames knows of them.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace tilefold::python {

namespace nb = nanobind;

/// The value, or what stands for it in numpy.asarray: see tilefold.frames.
/// Throws what that raises: DTypeError where values are missing, or not there
/// yet.
nb::object readable(std::string_view name, PyObject* value);

} // namespace tilefold::python
