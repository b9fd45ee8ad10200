// compiler/backends/cuda/image/functions.h - the functions of a formula that
// the loops of device/ call.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"

namespace tilefold::cuda {

/// Returns the leaves of the pair term, which were loaded before.
Leaves packed_leaves(const LoweredKernel& kernel);

/// Writes identity, begin, add, fold and merge; load_state and store_state;
/// and write_result.
void write_reduce_functions(Writer& writer, const LoweredKernel& kernel);
/// Writes write_value, which gives the result at a row and a column.
void write_value_function(Writer& writer, const LoweredKernel& kernel);

} // namespace tilefold::cuda
