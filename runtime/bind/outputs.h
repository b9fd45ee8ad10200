// runtime/bind/outputs.h - outputs of a call: checked, and as a kernel writes
// them.
#pragma once

#include "runtime/bind/kernel_call.h"

namespace tilefold {

/// Throws where `out` has not the shape and dtype of the result, is somewhere
/// else, or shares memory with an input or with itself.
void check_out(const Extents& shape, DType dtype, const Location& location,
               const InputArrays& inputs, const Output& out);

/// Throws where results of `dtype` are added to an array and cannot be: uint64
/// numbers would wrap.
void check_accumulate(DType dtype, bool accumulate);

/// The target of a kernel whose results go to `out`.
Target target_of(const KernelCall& call, const Output& out, bool accumulate);

} // namespace tilefold
