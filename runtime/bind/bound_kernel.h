// runtime/bind/bound_kernel.h - a call that is one kernel, whose results are
// those of the call.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/result_sums.h"
#include "runtime/core/object_cache.h"

namespace tilefold {

class BoundKernel final : public detail::BoundState {
public:
    /// Throws for sizes, lists and batches that do not fit.
    explicit BoundKernel(Binding&& binding);

    const Extents& shape(std::size_t) const override { return call_.shape; }
    DType dtype(std::size_t) const override { return call_.dtype(); }
    std::span<const ExecutablePointer> kernels() const override {
        return {&call_.executable, 1};
    }
    const KernelCall* kernel_call() const override { return &call_; }

private:
    double pairs() const override;
    void compute(std::span<const Output> outs,
                 const RunOptions& options) const override;
    std::unique_ptr<ResultSums> made_apart() const;
    void add_results(const Output& out, const RunOptions& options) const;
    double error_of(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const override;

    KernelCall call_;
    mutable ObjectCache<ResultSums> spare_;
};

} // namespace tilefold
