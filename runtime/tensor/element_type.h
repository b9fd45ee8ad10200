// runtime/tensor/element_type.h - element types as DLPack names them; all of it
// follows from compiler/ir/dtypes.def.
#pragma once

#include "compiler/ir/types.h"

#include <dlpack/dlpack.h>

namespace tilefold {

/// False for what is none of ours. A complex element is read as its parts:
/// `dtype` is theirs.
bool read_element_type(DLDataType type, DType& dtype, bool& is_complex);
DLDataType element_type(DType dtype, bool is_complex = false);

} // namespace tilefold
