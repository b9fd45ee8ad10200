// runtime/bind/batch_sum.h - a call whose results are those of one kernel,
// summed over batch dimensions, in their order and in double precision: any
// number of threads gives the same bits. Takes the memory of the results that
// are summed.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/result_sums.h"
#include "runtime/core/object_cache.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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

class BoundBatchSum final : public detail::BoundState {
public:
    /// Throws as BoundKernel and the functions above do.
    explicit BoundBatchSum(Binding&& binding);

    const Extents& shape(std::size_t) const override { return shape_; }
    DType dtype(std::size_t) const override { return call_.dtype(); }
    std::span<const ExecutablePointer> kernels() const override {
        return {&call_.executable, 1};
    }
    const KernelCall* kernel_call() const override { return &call_; }

private:
    double pairs() const override;
    void compute(std::span<const Output> outs,
                 const RunOptions& options) const override;
    double error_of(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const override;
    void queue(const Output& out, const RunOptions& options) const;

    KernelCall call_;
    std::vector<bool> summed_; ///< by batch dimension
    Extents shape_;            ///< of the sums
    /// The distance between sums, for each dimension of the results.
    Extents strides_;
    View results_;  ///< before they are summed; in memory of each run
    Target target_; ///< of the kernel: the same
    mutable ObjectCache<ResultSums> spare_;
};

} // namespace tilefold
