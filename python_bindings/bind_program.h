// python_bindings/bind_program.h - `Formula._program`: what a call computes,
// for who computes it without tilefold's kernels.
#pragma once

#include "python_bindings/call.h"

namespace tilefold::python {

void bind_program(nb::class_<FormulaHandle>& formula);

} // namespace tilefold::python
