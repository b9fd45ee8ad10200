// compiler/backends/cuda/image/functions.h - the functions of a formula that
// the loops of device/ call.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"
#include "compiler/backends/cuda/plan/reduction.h"

namespace tilefold::cuda {

/// Leaves of the pair term: what was loaded before.
Leaves packed_leaves(const Reduction& reduction);

/// identity, begin, add, fold, merge; load_state, store_state; write_result.
/// `is_open`: results beyond the width are not written.
void write_reduce_functions(Writer& writer, const Reduction& reduction,
                            bool is_open);
/// write_value: the result at a row and a column.
void write_value_function(Writer& writer, const Reduction& reduction);

} // namespace tilefold::cuda
