// runtime/bind/sweeps.h - formulas that take several kernels, one after the
// other: derivatives, complex values, reductions of reductions. What a kernel
// leaves behind is an array that later ones read.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/core/object_cache.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tilefold {

namespace detail {

class SweepRun;

} // namespace detail

/// Kernels with the arrays of a call, ready for any outputs. Refers to its
/// context.
struct SweepCall {
    struct Argument {
        std::string name;
        View view;
        BoundArgument reading; ///< points to `view` and `name`
    };
    struct Result {
        Extents shape;
        DType dtype = DType::F64;
        /// Whose shape it has, by place in `arguments`; -1: the formula's own.
        int argument = -1;
        bool is_imaginary = false; ///< part of the result before it
    };

    SweepCall(const CallContext& context, ExecutablePointer executable)
        : context(context), executable(std::move(executable)) {}
    SweepCall(const SweepCall&) = delete;
    SweepCall& operator=(const SweepCall&) = delete;

    const ExecutableSweeps& sweeps() const { return *executable->sweeps; }

    const CallContext& context;
    ExecutablePointer executable;
    std::vector<Argument> arguments;
    InputArrays inputs;
    Lengths lengths;
    std::shared_ptr<const Ranges> ranges;
    std::optional<Window> window; ///< see BindOptions
    Extents batch;                ///< of all arguments together
    std::vector<bool> summed;     ///< of its dimensions, where any are
    std::vector<Result> results;
};

class BoundSweeps final : public detail::BoundState {
public:
    explicit BoundSweeps(Binding&& binding);
    ~BoundSweeps() override;

    std::size_t results() const override { return call_.results.size(); }
    bool is_imaginary(std::size_t result) const override {
        return call_.results[result].is_imaginary;
    }
    const Extents& shape(std::size_t result) const override {
        return call_.results[result].shape;
    }
    DType dtype(std::size_t result) const override {
        return call_.results[result].dtype;
    }
    std::span<const ExecutablePointer> kernels() const override {
        return call_.sweeps().kernels;
    }
    const KernelCall* kernel_of_states() const override;
    void finalise(const double* states, std::span<const Output> outs,
                  const RunOptions& options) const override;

private:
    void check_outs(std::span<const Output> outs) const;
    double pairs() const override;
    void compute(std::span<const Output> outs,
                 const RunOptions& options) const override;
    double error_of(std::span<const Output> outs, std::int64_t rows,
                    const GoesOn& goes_on) const override;

    SweepCall call_;
    /// Has the kernel of states where there is one; it writes nothing.
    std::unique_ptr<detail::SweepRun> states_;
    /// The last run's, with all memory between the sweeps: a run that writes
    /// where that one wrote allocates nothing.
    mutable ObjectCache<detail::SweepRun> spare_;
};

/// A run of the sweeps with results in memory of its own, and what each left:
/// to be checked. Refers to `call`, whose arrays are the host's.
class SweepTrace {
public:
    SweepTrace(const SweepCall& call, const GoesOn& goes_on);
    ~SweepTrace();

    std::size_t kernels() const;
    const KernelCall& kernel(std::size_t number) const;
    const Output& left(std::size_t kernel) const { return left_[kernel]; }
    bool is_read_later(std::size_t kernel) const { return is_read_[kernel]; }

    /// The origin of a result: some components of a sweep's (-1: it is zero),
    /// which are summed over batches in groups: by batch of the sweep, the
    /// number of the result's batch.
    struct Source {
        int sweep = -1;
        std::int32_t first = 0, components = 1;
        std::vector<std::int64_t> groups;
    };
    Source source_of(std::size_t result) const;

private:
    void find_readers();

    const SweepCall& call_;
    std::vector<std::vector<std::byte>> results_;
    std::vector<Output> outs_, left_;
    std::unique_ptr<detail::SweepRun> run_;
    std::vector<bool> is_read_; ///< by kernel
};

} // namespace tilefold
