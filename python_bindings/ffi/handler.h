// python_bindings/ffi/handler.h - calls of formulas from programs of XLA.
#pragma once

#include <nanobind/nanobind.h>

namespace tilefold::python {

/// Binds `_ffi_handlers()`: capsules of the handlers, by XLA's platform.
void bind_ffi(nanobind::module_& module);

} // namespace tilefold::python
