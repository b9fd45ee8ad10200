// runtime/cuda/run.h - one call on a GPU: kernels in order, on the caller's
// stream. Nothing waits for them.
#pragma once

#include "compiler/backends/cuda/image/call.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/numbers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tilefold::cuda {

void run(const Module& module, const Job& job, CUstream stream);

/// The kernels of a call, or of some of its rows, step by step. Their states
/// lie in one piece of memory, since to take and give back each by itself would
/// cost more than a small kernel: the first step takes it, and it is given
/// back, in the order of the stream, at the end.
class Run {
public:
    /// Both outlive it.
    Run(const Module& module, const Job& job, CUstream stream);
    ~Run() = default;
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// All of it.
    void compute();
    /// Memory, parameters and constants.
    void begin();
    /// Reduces over some columns, of which the first begins a segment.
    /// `operands`: the job's, where these columns are.
    void accumulate(Interval columns, std::span<const DeviceOperand> operands);
    /// The results.
    void finish();
    /// Merges rows that are folded, instead, to one state for each run, and
    /// gives where they lie on the device: slot s of run k at [s * runs + k].
    const double* fold();
    /// The results, of `count` states for each run that fold() left behind: in
    /// the host's memory, slot s of state k of run r at [(s * runs + r) * count
    /// + k]. Instead of begin() and accumulate().
    void finish_folded(std::span<const double> states, std::int64_t count);

private:
    const Shape& shape() const { return module_.image().shape; }
    const Plan& plan() const { return module_.image().plan; }
    const Driver& driver() const { return module_.device().driver(); }
    /// Launches for `runs`, as many at a time as a grid has.
    void launch(const char* kernel, Grid grid, std::int64_t runs);
    Grid striding(std::int64_t count, std::int64_t threads = 1) const;
    Grid merging(std::int64_t results, std::int64_t states);
    bool ends_in_blocks() const;
    double* state(std::size_t place) {
        return reinterpret_cast<double*>(memory_->data() + place);
    }
    std::size_t bytes_of(std::int64_t states) const;

    void fill_sizes();
    void fill_segments();
    void take_parameters();
    std::shared_ptr<const Parameters> make_parameters();
    void take_states();
    void take_memory();
    void copy(char* to, const void* from, std::size_t bytes, const char* what);
    void fill_operands(std::span<const DeviceOperand> operands);
    void merge_states(std::size_t place, std::int64_t group);
    void write_pairs();

    const Module& module_;
    const Job& job_;
    CUstream stream_;
    ChosenTiles tiles_; ///< of chosen pairs; else none
    Numbers numbers_;
    std::shared_ptr<const Parameters> parameters_;
    MemoryLayout layout_; ///< of states
    std::optional<StreamMemory> memory_;
    std::size_t state_ = 0;
    std::vector<std::size_t> merged_; ///< by how often states were merged
    std::size_t folded_ = 0;          ///< one state a run
    std::int64_t runs_ = 1, row_blocks_ = 0;
    Call call_{};
};

} // namespace tilefold::cuda
