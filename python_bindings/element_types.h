// python_bindings/element_types.h - element types as Python names them; all of
// it follows from compiler/ir/dtypes.def.
#pragma once

#include "runtime/tensor/element_type.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tilefold::python {

/// Reads a format of the struct module, "<d" or "q"; false for anything else. A
/// complex element is read as its parts: `dtype` is theirs.
bool read_format(std::string_view format, std::size_t bytes, DType& dtype,
                 bool& is_complex);
/// "float64", "complex64"; NumPy has no "bfloat16" of its own.
std::string numpy_name(DType dtype, bool is_complex = false);

} // namespace tilefold::python
