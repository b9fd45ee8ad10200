// python_bindings/tensors.h - arrays lent through DLPack.
#pragma once

#include "python_bindings/array_kind.h"
#include "python_bindings/pin.h"
#include "runtime/core/view.h"

#include <string_view>

namespace tilefold::python {

/// Through DLPack's C table: borrowed, `pin` holds a reference.
View view_of_exchange(std::string_view name, PyObject* value,
                      const ArrayKind& kind, Pin& pin,
                      const ArrayRequest& wanted);
/// Through value.__dlpack__().
View view_of_dlpack(std::string_view name, PyObject* value,
                    const ArrayKind& kind, Pin& pin,
                    const ArrayRequest& wanted);

} // namespace tilefold::python
