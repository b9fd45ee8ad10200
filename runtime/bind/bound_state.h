// runtime/bind/bound_state.h - what a Bound is of: a call with its arrays,
// checked and with its kernels, whatever these are.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/call_options.h"
#include "runtime/bind/indices.h"
#include "runtime/bind/kernel_call.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

/// What bind() finds of a call.
struct Binding {
    const detail::FormulaState& formula;
    Location location; ///< of the arrays
    ExecutablePointer executable;
    const BoundArguments& arguments;
    const Lengths& lengths;
    const BindOptions& options;
};

namespace detail {

/// Thread-safe where runs have outputs of their own.
class BoundState {
public:
    virtual ~BoundState() = default;
    BoundState(const BoundState&) = delete;
    BoundState& operator=(const BoundState&) = delete;

    virtual std::size_t results() const { return 1; }
    /// Whether a result is a part of the one before it.
    virtual bool is_imaginary(std::size_t) const { return false; }
    virtual const Extents& shape(std::size_t result) const = 0;
    virtual DType dtype(std::size_t result) const = 0;
    /// Kernels that a run calls, in order.
    virtual std::span<const ExecutablePointer> kernels() const = 0;
    /// How the one kernel is called; null where there are several.
    virtual const KernelCall* kernel_call() const { return nullptr; }

    const CallContext& context() const { return context_; }
    const Location& location() const { return context_.location; }

    /// Checks the outputs, one for each result, and computes them.
    void run(std::span<const Output> outs, const RunOptions& options) const;
    /// The one kernel whose states make the results; null where several do.
    virtual const KernelCall* kernel_of_states() const { return kernel_call(); }
    /// Checks the outputs, and writes the results of these states to them.
    virtual void finalise(const double* states, std::span<const Output> outs,
                          const RunOptions& options) const;
    /// See Bound::check.
    double check(std::span<const Output> outs, std::int64_t rows,
                 const GoesOn& goes_on) const;

protected:
    /// Checks arrays of indices.
    explicit BoundState(const Binding& binding);

private:
    virtual double pairs() const = 0;
    virtual void compute(std::span<const Output> outs,
                         const RunOptions& options) const = 0;
    /// The largest relative error of outputs of the host.
    virtual double error_of(std::span<const Output> outs, std::int64_t rows,
                            const GoesOn& goes_on) const = 0;
    void require_outputs(std::span<const Output> outs) const;

    CallContext context_;
    /// Checked by the constructor, and before every run but the first: arrays
    /// may change between runs.
    std::vector<IndexArray> indices_;
    mutable std::atomic<bool> has_run_ = false;
};

} // namespace detail
} // namespace tilefold
