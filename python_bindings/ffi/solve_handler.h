// python_bindings/ffi/solve_handler.h - linear systems from programs of XLA.
#pragma once

#include <xla/ffi/api/c_api.h>

namespace tilefold::python {

/// The handler for arrays of the host.
XLA_FFI_Error* solve_on_host(XLA_FFI_CallFrame* frame);

} // namespace tilefold::python
