// runtime/bind/bind_job.h - the second half of bind(): sizes, batches, lists
// and the shape of the result.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/call_options.h"
#include "runtime/bind/kernel_call.h"

namespace tilefold {

/// Fills everything of `call` but its context and executable, which are there.
/// Throws for sizes, lists and batches that do not fit.
void fill_job(KernelCall& call, const BoundArguments& readings,
              const Lengths& lengths, const BindOptions& options);

/// The batch shape of arguments and ranges (null: none) together. Throws where
/// they disagree.
Extents batch_shape(const BoundArguments& readings, const Ranges* ranges);

} // namespace tilefold
