// runtime/bind/batch_sum.h - a call whose results are those of one kernel,
// summed over batch dimensions, in their order and in double precision: any
// number of threads gives the same bits. Takes the memory of the results that
// are summed.
#pragma once

#include "runtime/bind/bound_kernel.h"

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

class BoundBatchSum final : public BoundKernel {
public:
    /// Throws as BoundKernel and the functions above do.
    explicit BoundBatchSum(const Binding& binding);

    const Extents& shape(std::size_t) const override { return shape_; }

private:
    void compute(std::span<const Output> outs,
                 const RunOptions& options) const override;
    double error_of(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const override;
    void queue(const Output& out, const RunOptions& options) const;

    std::vector<bool> summed_; ///< by batch dimension
    Extents shape_;            ///< of the sums
};

} // namespace tilefold
