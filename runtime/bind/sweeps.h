// runtime/bind/sweeps.h - formulas that take several kernels, one after the
// other: derivatives, complex values, reductions of reductions. What a kernel
// leaves behind is an array that later ones read.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/call_options.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

namespace detail {

class SweepRun;

/// Arguments of a call that takes sweeps, ready to run.
class BoundSweeps {
public:
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

    BoundSweeps() = default;
    ~BoundSweeps();

    std::vector<Argument> arguments;
    boost::container::small_vector<BoundState::Input, 6> inputs;
    Lengths lengths;
    std::shared_ptr<const Ranges> ranges;
    Extents batch;            ///< of all arguments together
    std::vector<bool> summed; ///< of its dimensions, where any are
    std::vector<Result> results;
    /// The last run's, with all memory between the sweeps: a run that writes
    /// where that one wrote allocates nothing.
    mutable ObjectCache<SweepRun> spare;
};

} // namespace detail

/// Fills `bound.sweeps`.
void bind_sweeps(detail::BoundState& bound, const BoundArguments& readings,
                 const Lengths& lengths, const BindOptions& options);

/// Checks the outputs, one for each result, and computes them.
void run_sweeps(const detail::BoundState& bound, std::span<const Output> outs,
                const RunOptions& options);

/// A run of the sweeps with results in memory of its own, and what each left:
/// to be checked. Refers to `bound`, whose arrays are the host's.
class SweepTrace {
public:
    SweepTrace(const detail::BoundState& bound, const GoesOn& goes_on);
    ~SweepTrace();

    std::size_t kernels() const;
    const detail::BoundState& kernel(std::size_t number) const;
    const Output& left(std::size_t kernel) const { return left_[kernel]; }
    bool is_read_later(std::size_t kernel) const { return is_read_[kernel]; }

    /// Where a result comes from: some components of a sweep's (-1: it is
    /// zero), which are summed over batches in groups: by batch of the sweep,
    /// the number of the result's batch.
    struct Source {
        int sweep = -1;
        std::int32_t first = 0, components = 1;
        std::vector<std::int64_t> groups;
    };
    Source source_of(std::size_t result) const;

private:
    void find_readers();

    const detail::BoundState& bound_;
    std::vector<std::vector<std::byte>> results_;
    std::vector<Output> outs_, left_;
    std::unique_ptr<detail::SweepRun> run_;
    std::vector<bool> is_read_; ///< by kernel
};

} // namespace tilefold
