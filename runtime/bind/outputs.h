// runtime/bind/outputs.h - outputs of a call: checked, and as a kernel writes
// them.
#pragma once

#include "runtime/bind/bound_state.h"

#include <span>

namespace tilefold {

/// Throws where `out` has not the shape and dtype of the result, is somewhere
/// else, or shares memory with an input or with itself.
void check_out(const Extents& shape, DType dtype, const Location& location,
               std::span<const detail::BoundState::Input> inputs,
               const Output& out);

/// Throws where results of `dtype` are added to an array and cannot be: uint64
/// numbers would wrap.
void check_accumulate(DType dtype, bool accumulate);

/// Where the results of a kernel go.
Target target_of(const detail::BoundState& bound, const Output& out,
                 bool accumulate);

} // namespace tilefold
