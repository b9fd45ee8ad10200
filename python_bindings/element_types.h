// python_bindings/element_types.h - element types as Python and DLPack name
// them; all of it follows from compiler/dtypes.def.
#pragma once

#include "compiler/types.h"
#include "python_bindings/dlpack.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tilefold::python {

/// Of the struct module's format: "<d", "q"; false for anything else.
bool read_format(std::string_view format, std::size_t bytes, DType& dtype);
bool read_element_type(dlpack::ElementType type, DType& dtype);
dlpack::ElementType element_type(DType dtype);
/// "float64"; NumPy has no "bfloat16" of its own.
std::string numpy_name(DType dtype);

} // namespace tilefold::python
