// runtime/schedule/worker.h - one thread's part in a run: its copy of the call,
// its state and scratch, and the sequence of kernel calls for a piece.
#pragma once

#include "runtime/core/scratch.h"
#include "runtime/schedule/partition.h"
#include "runtime/schedule/progress.h"

#include <atomic>
#include <cstdint>

namespace tilefold {

/// Partial states of the groups of one wave, where groups have several parts.
struct Partials {
    double* states = nullptr;
    std::atomic<std::int32_t>* missing = nullptr; ///< parts, by group
    std::int64_t first_group = 0;
    std::int64_t stride = 0;  ///< of a folded group's state
    std::int64_t doubles = 0; ///< of one group
};

/// What the threads of one run share.
struct Run {
    /// What kernels note, of all threads.
    struct Noted {
        std::atomic<std::int64_t> met = 0, left_out = 0; ///< tiles
        std::atomic<bool> left_range = false; ///< see tilefold_kernel_call
    };

    const Job& job;
    const Partition& partition;
    double* constants =
        nullptr; ///< computed; null: each worker computes its own
    Partials partials;
    Progress* progress = nullptr; ///< null: nobody watches
    Noted* noted = nullptr;
};

/// The constants of the call; not all of them where the watcher's run stops.
void compute_constants(const Kernel& kernel, tilefold_kernel_call& call,
                       Watcher watcher);

class Worker {
public:
    /// Bytes of scratch a worker carves its memory from.
    static std::size_t bytes(const Job& job, const Partition& partition);

    /// `polls`: runs on the calling thread, whose mode is `callers_mode`.
    Worker(const Run& run, std::byte* memory, bool polls,
           unsigned callers_mode);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Computes the piece; whoever completes a group merges and finalises
    /// it. False: the run was stopped on the way.
    bool work(std::int64_t piece_number);

private:
    Watcher watcher() const { return {*run_.progress, polls_, callers_mode_}; }
    void compute_constants();
    void move_to(std::int64_t batch);
    bool is_stopped() const;
    void step();
    void shift(std::size_t dimension, std::int64_t steps);
    bool accumulate(const WorkItem& piece, double* state);
    bool accumulate(const RowTask& task, double* state);
    bool accumulate(Interval rows, Interval columns, double* state);
    bool accumulate_tree(Interval rows, Interval columns,
                         std::span<const Interval> met, double* state,
                         double* spare);
    bool accumulate_segment(const WorkItem& piece);
    void take_given(Interval rows, double* state);
    void finish(Interval rows, const double* state, std::int64_t stride);
    bool went_on(double pairs);
    bool reduce(const WorkItem& piece, std::int64_t number);
    bool fold(const WorkItem& piece, std::int64_t number);
    bool reduce(std::span<const RowTask> tasks);
    bool fold(std::span<const RowTask> tasks, std::int64_t number);
    void finish_fold(std::int64_t number);
    void fold_rows(double* state, std::int64_t rows);
    void merge_tree(double* states, std::int64_t distance, std::int64_t stride,
                    std::int64_t rows);
    bool completes(std::int64_t group);

    const Run& run_;
    const Kernel& kernel_;
    const Partition& partition_;
    tilefold_kernel_call call_{};
    tilefold_kernel_operand* operands_;
    double* state_;
    double* task_state_;  ///< of one task, where tasks are folded
    double* tree_states_; ///< where a piece's columns are joined by a tree
    char* scratch_;
    std::int64_t tiles_[2] = {0, 0}; ///< met, left out
    std::int64_t left_range_ = 0;
    std::int64_t batch_ = 0;
    Extents at_; ///< batch_ as coordinates
    bool polls_;
    double uncounted_ = 0; ///< pairs that progress has not heard of
    double pair_nanoseconds_;
    unsigned callers_mode_;
};

} // namespace tilefold
