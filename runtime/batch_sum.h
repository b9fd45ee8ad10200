// runtime/batch_sum.h - results summed over batch dimensions, in their order
// and in double precision: any number of threads gives the same bits. Takes
// the memory of the results that are summed.
#pragma once

#include "runtime/session_state.h"
#include "runtime/sweeps.h"

#include <span>

namespace tilefold {

/// Throws SumBatchAxis for what is no batch dimension, or is named twice, and
/// SumBatchOf for what has no sum.
void bind_batch_sum(detail::BoundState& bound,
                    std::span<const std::int64_t> dimensions);
/// The same of a call that takes several kernels, which sums where results are
/// gathered; of derivatives it throws SumBatchOf, too.
void sum_batches(detail::BoundSweeps& sweeps,
                 std::span<const std::int64_t> dimensions);

void run_batch_sum(const detail::BoundState& bound, const Output& out,
                   const RunOptions& options);

} // namespace tilefold
