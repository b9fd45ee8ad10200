// runtime/bind/batch_sum.h - results summed over batch dimensions, in their
// order and in double precision: any number of threads gives the same bits.
// Takes the memory of the results that are summed.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/call_options.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

/// Which of `count` batch dimensions are summed. Throws SumBatchAxis for what
/// is no batch dimension, or is named twice.
std::vector<bool> summed_of(std::span<const std::int64_t> dimensions,
                            std::size_t count);
/// Throws SumBatchOf for results that have no sum.
void check_summed(DType dtype);
/// The shape of the sums of results of `shape`.
Extents without_summed(const Extents& shape, const std::vector<bool>& summed);

/// Throws SumBatchAxis for what is no batch dimension, or is named twice, and
/// SumBatchOf for what has no sum.
void bind_batch_sum(detail::BoundState& bound,
                    std::span<const std::int64_t> dimensions);
void run_batch_sum(const detail::BoundState& bound, const Output& out,
                   const RunOptions& options);

} // namespace tilefold
