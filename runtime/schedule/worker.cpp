// runtime/schedule/worker.cpp - pieces to kernel calls.

#include "runtime/schedule/worker.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tilefold {
namespace {

std::int64_t state_doubles(const Job& job, const Partition& partition) {
    return job.kernel->slots(job.width) * partition.block;
}

bool reduces(LoopKind loop) {
    return loop == LoopKind::Reduce || loop == LoopKind::FoldRows;
}

/// A piece of folded rows has a state for a part of them.
bool folds_parts(const Job& job, const Partition& partition) {
    return job.loop == LoopKind::FoldRows &&
           (partition.row_tasks || (job.segment > 0 && job.has_one_axis));
}

Interval common(Interval one, Interval other) {
    return {std::max(one.first, other.first), std::min(one.last, other.last)};
}

/// Those of ascending intervals that meet `columns`.
std::span<const Interval> meeting(std::span<const Interval> intervals,
                                  Interval columns) {
    const auto begin = std::ranges::partition_point(
        intervals, [&](Interval i) { return i.last <= columns.first; });
    const auto end = std::ranges::partition_point(
        intervals, [&](Interval i) { return i.first < columns.last; });
    return {begin, std::max(begin, end)};
}

} // namespace

void compute_constants(const Kernel& kernel, tilefold_kernel_call& call,
                       Watcher watcher) {
    call.goes_on = &Watcher::goes_on;
    call.watcher = &watcher;
    kernel.prepare(&call);
    call.watcher = nullptr;
}

std::size_t Worker::bytes(const Job& job, const Partition& partition) {
    std::int64_t state =
        reduces(job.loop) ? state_doubles(job, partition) * 8 : 0;
    return BumpAllocator::rounded(job.operands.size() *
                                  sizeof(tilefold_kernel_operand)) +
           BumpAllocator::rounded(std::size_t(job.kernel->layout.constants) *
                                  8) +
           BumpAllocator::rounded(std::size_t(state)) +
           BumpAllocator::rounded(
               folds_parts(job, partition) ? std::size_t(state) : 0) +
           BumpAllocator::rounded(
               std::size_t(partition.tree_states() * state)) +
           BumpAllocator::rounded(std::size_t(job.kernel->scratch(job.width)));
}

Worker::Worker(const Run& run, std::byte* memory, bool polls,
               unsigned callers_mode)
    : run_(run), kernel_(*run.job.kernel), partition_(run.partition),
      at_(run.job.batches->extents.size(), 0), polls_(polls),
      pair_nanoseconds_(run.job.kernel->nanoseconds(run.job.width)),
      callers_mode_(callers_mode) {
    const Job& job = run.job;
    BumpAllocator allocator(memory);
    operands_ = allocator.take<tilefold_kernel_operand>(
        std::int64_t(job.operands.size()));
    std::copy(job.operands.begin(), job.operands.end(), operands_);
    double* constants = allocator.take<double>(kernel_.layout.constants);
    state_ = allocator.take<double>(
        reduces(job.loop) ? state_doubles(job, partition_) : 0);
    task_state_ = allocator.take<double>(
        folds_parts(job, partition_) ? state_doubles(job, partition_) : 0);
    tree_states_ = allocator.take<double>(partition_.tree_states() *
                                          state_doubles(job, partition_));
    scratch_ = allocator.take<char>(kernel_.scratch(job.width));
    call_.operands = operands_;
    call_.literals = job.literals;
    call_.constants = run.constants ? run.constants : constants;
    call_.row_index = job.row_index;
    call_.column_index = job.column_index;
    call_.rows = job.rows_of_axis();
    call_.columns = job.columns_of_axis();
    call_.width = job.width;
    call_.functions = job.functions;
    call_.out = job.target.data
                    ? job.target.data - job.first_row * job.target.row
                    : nullptr;
    call_.out_row = job.target.row;
    call_.out_column = job.target.column;
    call_.out_component = job.target.component;
    call_.accumulate = job.target.accumulate;
    call_.tiles = tiles_;
    call_.left_range = &left_range_;
    if (!run.constants)
        compute_constants();
}

Worker::~Worker() {
    if (run_.progress)
        run_.progress->advance(uncounted_);
    if (left_range_)
        run_.noted->left_range.store(true, std::memory_order_relaxed);
    if (tiles_[0] == 0)
        return;
    run_.noted->met.fetch_add(tiles_[0], std::memory_order_relaxed);
    run_.noted->left_out.fetch_add(tiles_[1], std::memory_order_relaxed);
}

/// The constants of the call; not all of them where the run is stopped.
void Worker::compute_constants() {
    if (!run_.progress)
        return kernel_.prepare(&call_);
    tilefold::compute_constants(kernel_, call_, watcher());
}

bool Worker::is_stopped() const {
    return run_.progress && run_.progress->stopped();
}

/// Moves every pointer by `steps` along a batch dimension.
void Worker::shift(std::size_t dimension, std::int64_t steps) {
    std::size_t operands = run_.job.operands.size();
    const std::int64_t* strides =
        run_.job.batches->strides.data() + dimension * operands;
    for (std::size_t k = 0; k < operands; ++k)
        operands_[k].base += strides[k] * steps;
    call_.out += run_.job.target.batch[dimension] * steps;
    at_[dimension] += steps;
}

/// Goes to the next batch in order, which is nearly always one shift.
void Worker::step() {
    const Extents& extents = run_.job.batches->extents;
    std::size_t dimension = extents.size() - 1;
    while (at_[dimension] + 1 == extents[dimension]) {
        shift(dimension, -at_[dimension]);
        --dimension;
    }
    shift(dimension, 1);
}

void Worker::move_to(std::int64_t batch) {
    if (batch == batch_)
        return;
    if (batch == batch_ + 1) {
        step();
    } else {
        const Extents& extents = run_.job.batches->extents;
        std::int64_t rest = batch;
        for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d])
            shift(d, rest % extents[d] - at_[d]);
    }
    batch_ = batch;
    if (run_.job.batches->moves_parameters)
        compute_constants();
}

bool Worker::went_on(double pairs) {
    if (!run_.progress)
        return true;
    // Threads that count in one place wait for one another: not each call, but
    // by time, since a pair of long vectors may take longer than a piece.
    uncounted_ += pairs;
    if (uncounted_ * pair_nanoseconds_ < Job::piece_nanoseconds)
        return !run_.progress->stopped();
    return watcher().advance(std::exchange(uncounted_, 0));
}

/// Adds columns to the state of at most a block of rows.
bool Worker::accumulate(Interval rows, Interval columns, double* state) {
    const std::int64_t row = run_.job.first_row, column = run_.job.first_column;
    for (std::int64_t j0 = columns.first; j0 < columns.last;
         j0 += partition_.call_columns) {
        std::int64_t j1 = std::min(j0 + partition_.call_columns, columns.last);
        kernel_.accumulate(&call_, row + rows.first, row + rows.last,
                           column + j0, column + j1, state, partition_.block,
                           scratch_);
        if (!went_on(double(rows.size()) * double(j1 - j0)))
            return false;
    }
    return true;
}

bool Worker::accumulate(const RowTask& task, double* state) {
    if (partition_.leaf_columns > 0)
        return accumulate_tree(task.rows, {0, partition_.columns}, task.columns,
                               state, tree_states_);
    kernel_.init(&call_, state, partition_.block);
    for (Interval columns : task.columns)
        if (!accumulate(task.rows, columns, state))
            return false;
    return true;
}

/// Makes the state of those of the columns, which begin at a segment, that are
/// met: of the larger power of two of segments, merged with that of the rest.
bool Worker::accumulate_tree(Interval rows, Interval columns,
                             std::span<const Interval> met, double* state,
                             double* spare) {
    met = meeting(met, columns);
    const std::int64_t leaf = partition_.leaf_columns;
    if (columns.size() <= leaf || met.empty()) {
        kernel_.init(&call_, state, partition_.block);
        return std::ranges::all_of(met, [&](Interval interval) {
            return accumulate(rows, common(interval, columns), state);
        });
    }
    const auto leaves = std::uint64_t((columns.size() - 1) / leaf + 1);
    const std::int64_t middle =
        columns.first + std::int64_t(std::bit_ceil(leaves) / 2) * leaf;
    if (!accumulate_tree(rows, {columns.first, middle}, met, state, spare) ||
        !accumulate_tree(rows, {middle, columns.last}, met, spare,
                         spare + state_doubles(run_.job, partition_)))
        return false;
    kernel_.merge(&call_, state, spare, partition_.block, rows.size());
    return true;
}

/// The state of a block of rows is the caller's.
void Worker::take_given(Interval rows, double* state) {
    const RowStates& given = run_.job.given;
    const std::int64_t slots = kernel_.slots(call_.width);
    for (std::int64_t s = 0; s < slots; ++s)
        std::copy_n(given.data + (batch_ * slots + s) * given.stride +
                        rows.first,
                    rows.size(), state + s * partition_.block);
}

/// The piece's rows, block after block, onto one state.
bool Worker::accumulate(const WorkItem& piece, double* state) {
    if (run_.job.given.data) {
        if (piece.i0 == piece.i1) // what is folded has no row, and is of none
            kernel_.init(&call_, state, partition_.block);
        take_given({piece.i0, piece.i1}, state);
        return true;
    }
    const Interval columns{piece.j0, piece.j1};
    if (partition_.leaf_columns > 0 && !run_.job.has_one_axis)
        return accumulate_tree({piece.i0, piece.i1}, columns, {&columns, 1},
                               state, tree_states_);
    kernel_.init(&call_, state, partition_.block);
    for (std::int64_t i0 = piece.i0; i0 < piece.i1; i0 += partition_.block) {
        std::int64_t i1 = std::min(i0 + partition_.block, piece.i1);
        if (!accumulate({i0, i1}, {piece.j0, piece.j1}, state))
            return false;
    }
    return true;
}

/// A segment of rows: its whole blocks onto one state, then the rest, since
/// accumulate() leaves garbage behind the last of a block's rows.
bool Worker::accumulate_segment(const WorkItem& piece) {
    const std::int64_t whole =
        (piece.i1 - piece.i0) / partition_.block * partition_.block;
    WorkItem part = piece;
    part.i1 = piece.i0 + whole;
    if (!accumulate(part, state_))
        return false;
    fold_rows(state_, partition_.block);
    if (part.i1 == piece.i1)
        return true;
    part = {piece.batch, part.i1, piece.i1, piece.j0, piece.j1};
    if (!accumulate(part, task_state_))
        return false;
    fold_rows(task_state_, part.i1 - part.i0);
    kernel_.merge(&call_, state_, task_state_, partition_.block, 1);
    return true;
}

/// The state becomes results, or is left to the caller.
void Worker::finish(Interval rows, const double* state, std::int64_t stride) {
    const RowStates& left = run_.job.left;
    if (!left.data) {
        const std::int64_t first = run_.job.first_row;
        return kernel_.finalise(&call_, first + rows.first, first + rows.last,
                                state, stride, scratch_);
    }
    const std::int64_t slots = kernel_.slots(call_.width);
    for (std::int64_t s = 0; s < slots; ++s)
        std::copy_n(state + s * stride, rows.size(),
                    left.data + (batch_ * slots + s) * left.stride +
                        rows.first);
}

/// Whether this was the last part of the group to arrive.
bool Worker::completes(std::int64_t group) {
    auto& missing = run_.partials.missing[group - run_.partials.first_group];
    return missing.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Neighbours first, in the order of the parts; the result in part 0.
void Worker::merge_tree(double* states, std::int64_t distance,
                        std::int64_t stride, std::int64_t rows) {
    for (std::int64_t gap = 1; gap < partition_.parts; gap *= 2)
        for (std::int64_t p = 0; p + gap < partition_.parts; p += 2 * gap)
            kernel_.merge(&call_, states + p * distance,
                          states + (p + gap) * distance, stride, rows);
}

bool Worker::reduce(const WorkItem& piece, std::int64_t number) {
    if (kernel_.reduce) {
        kernel_.reduce(&call_, piece.i0, piece.i1, scratch_);
        return went_on(double(piece.i1 - piece.i0) *
                       double(piece.j1 - piece.j0));
    }
    if (partition_.parts == 1) {
        if (!accumulate(piece, state_))
            return false;
        finish({piece.i0, piece.i1}, state_, partition_.block);
        return true;
    }
    const Partials& partials = run_.partials;
    std::int64_t group = number / partition_.parts;
    std::int64_t part_doubles = partials.doubles / partition_.parts;
    double* states =
        partials.states + (group - partials.first_group) * partials.doubles;
    if (!accumulate(piece, states + number % partition_.parts * part_doubles))
        return false;
    if (!completes(group))
        return true;
    merge_tree(states, part_doubles, partition_.block, piece.i1 - piece.i0);
    finish({piece.i0, piece.i1}, states, partition_.block);
    return true;
}

/// Rows [0, rows) to row 0: by the kernel, or the upper half onto the lower,
/// until one is left.
void Worker::fold_rows(double* state, std::int64_t rows) {
    if (kernel_.fold)
        return kernel_.fold(&call_, state, partition_.block, rows);
    while (rows > 1) {
        std::int64_t half = (rows + 1) / 2;
        kernel_.merge(&call_, state, state + half, partition_.block,
                      rows - half);
        rows = half;
    }
}

/// The parts of a folded group are the rows of one small state.
bool Worker::fold(const WorkItem& piece, std::int64_t number) {
    if (folds_parts(run_.job, partition_) && !run_.job.given.data) {
        if (!accumulate_segment(piece))
            return false;
    } else {
        if (!accumulate(piece, state_))
            return false;
        fold_rows(state_, std::min(piece.i1 - piece.i0, partition_.block));
    }
    finish_fold(number);
    return true;
}

/// Row 0 of the state is a part of its group.
void Worker::finish_fold(std::int64_t number) {
    if (partition_.parts == 1)
        return finish({0, 1}, state_, partition_.block);
    const Partials& partials = run_.partials;
    std::int64_t group = number / partition_.parts;
    double* states =
        partials.states + (group - partials.first_group) * partials.doubles;
    for (std::int64_t s = 0; s < kernel_.slots(call_.width); ++s)
        states[s * partials.stride + number % partition_.parts] =
            state_[s * partition_.block];
    if (!completes(group))
        return;
    merge_tree(states, 1, partials.stride, 1);
    finish({0, 1}, states, partials.stride);
}

bool Worker::reduce(std::span<const RowTask> tasks) {
    for (const RowTask& task : tasks) {
        move_to(task.batch);
        if (is_stopped() || !accumulate(task, state_))
            return false;
        finish(task.rows, state_, partition_.block);
    }
    return true;
}

/// Row tasks have different rows: each is folded by itself, onto row 0.
bool Worker::fold(std::span<const RowTask> tasks, std::int64_t number) {
    kernel_.init(&call_, state_, partition_.block);
    for (const RowTask& task : tasks) {
        if (task.columns.empty())
            continue;
        if (!accumulate(task, task_state_))
            return false;
        fold_rows(task_state_, task.rows.size());
        kernel_.merge(&call_, state_, task_state_, partition_.block, 1);
    }
    finish_fold(number);
    return true;
}

bool Worker::work(std::int64_t number) {
    if (partition_.row_tasks && run_.job.loop == LoopKind::Reduce)
        return reduce(partition_.row_tasks->piece(number));
    WorkItem piece = partition_.piece(number);
    move_to(piece.batch);
    if (is_stopped()) // while the constants were computed
        return false;
    if (partition_.row_tasks)
        return fold(partition_.row_tasks->piece(number), number);
    switch (run_.job.loop) {
    case LoopKind::Reduce:
        return reduce(piece, number);
    case LoopKind::FoldRows:
        return fold(piece, number);
    case LoopKind::Pairwise:
        kernel_.zip(&call_, piece.i0, piece.i1, scratch_);
        return went_on(double(piece.i1 - piece.i0));
    case LoopKind::Dense:
        kernel_.dense(&call_, piece.i0, piece.i1, piece.j0, piece.j1, scratch_);
        return went_on(double(piece.i1 - piece.i0) *
                       double(piece.j1 - piece.j0));
    }
    return true;
}

} // namespace tilefold
