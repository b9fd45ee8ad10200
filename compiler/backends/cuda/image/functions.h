// compiler/backends/cuda/image/functions.h - the functions of a formula that
// the loops of device/ call.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"

namespace tilefold::cuda {

/// Leaves of the pair term: what was loaded before.
Leaves packed_leaves(const LoweredKernel& kernel);

/// identity, begin, add, fold, merge; load_state, store_state; write_result.
void write_reduce_functions(Writer& writer, const LoweredKernel& kernel);
/// write_value: the result at a row and a column.
void write_value_function(Writer& writer, const LoweredKernel& kernel);

} // namespace tilefold::cuda
