// runtime/bind/bound_kernel.h - a call that is one kernel, whose results are
// those of the call.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/result_sums.h"
#include "runtime/core/object_cache.h"

#include <memory>
#include <vector>

namespace tilefold {

class BoundKernel : public detail::BoundState {
public:
    /// Throws for sizes, lists and batches that do not fit.
    explicit BoundKernel(Binding&& binding);

    const Extents& shape(std::size_t) const override { return call_.shape; }
    DType dtype(std::size_t) const override { return call_.dtype(); }
    std::span<const ExecutablePointer> kernels() const override {
        return {&call_.executable, 1};
    }
    const KernelCall* kernel_call() const override { return &call_; }
    void finalise(const double* states, std::span<const Output> outs,
                  const RunOptions& options) const override;

protected:
    /// Runs the kernel on the host with results of its own, and writes their
    /// sums over the dimensions that are `summed`, the same in every run, to
    /// `out`, or adds them. Throws OutOfMemory, which says `what` the results
    /// are and the `cure`.
    void sum_results(const Output& out, const RunOptions& options,
                     const std::vector<bool>& summed, const char* what,
                     const char* cure) const;

    KernelCall call_;

private:
    double pairs() const override;
    void compute(std::span<const Output> outs,
                 const RunOptions& options) const override;
    double error_of(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const override;
    std::unique_ptr<ResultSums> sums_of(const std::vector<bool>& summed,
                                        const char* what,
                                        const char* cure) const;

    mutable ObjectCache<ResultSums> spare_;
};

} // namespace tilefold
