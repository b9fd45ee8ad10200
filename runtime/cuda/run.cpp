// runtime/cuda/run.cpp - fills a kernel's argument and queues the kernels.

#include "runtime/cuda/run.h"

#include "compiler/backends/cuda/image/call.h"
#include "formulas/diagnostic.h"
#include "runtime/cuda/capture.h"

#include <algorithm>
#include <bit>

namespace tilefold::cuda {
static_assert(most_batch_dimensions == batch_dimensions);

Run::Run(const Module& module, const Job& job, CUstream stream)
    : module_(module), job_(job), stream_(stream),
      tiles_(chosen_tiles(job.chosen, job.rows, plan().block_rows())),
      numbers_(job, tiles_) {
    fill_sizes();
}

std::size_t Run::bytes_of(std::int64_t states) const {
    return std::size_t(states * shape().slots) * 8;
}

void Run::fill_sizes() {
    call_.batches = 1;
    for (std::int64_t extent : job_.batch)
        call_.batches *= extent;
    std::ranges::copy(job_.batch, call_.batch);
    call_.constants_stride = shape().constants;
    call_.rows = job_.rows;
    call_.columns = call_.all_columns = job_.columns;
    call_.first_row = job_.first_row;
    call_.width = job_.width;
    call_.parts = parts_of(module_.image(), job_.width);
    call_.segments = 1;
    call_.out = job_.out;
    call_.out_row = job_.out_row;
    call_.out_column = job_.out_column;
    call_.out_component = job_.out_component;
    std::ranges::copy(job_.out_batch, call_.out_batch);
    call_.accumulate = job_.accumulate;
    runs_ = call_.parts * call_.batches;
    if (shape().reduces)
        fill_segments();
}

void Run::fill_segments() {
    const bool chooses = !job_.chosen.empty();
    row_blocks_ = chooses ? std::int64_t(tiles_.rows.size())
                          : ceil_div(call_.rows, plan().block_rows());
    if (!chooses) {
        const Segments segments = job_.segments.value_or(
            segments_of(plan(), call_.rows, runs_, call_.columns));
        call_.segments = segments.count;
        call_.segment = segments.columns;
    }
    call_.run =
        (shape().folds_blocks ? row_blocks_ : call_.rows) * call_.segments;
    call_.states = call_.run * runs_;
}

/// Takes the parameters of the module's last call, where they are the same.
void Run::take_parameters() {
    std::string key = ParameterCache::key_of(job_, numbers_, stream_);
    if (!key.empty())
        parameters_ = module_.kept().find(key);
    const bool is_kept = parameters_ != nullptr;
    if (!is_kept)
        parameters_ = make_parameters();
    const char* memory = parameters_->data();
    call_.literals = reinterpret_cast<const double*>(memory);
    call_.row_index = numbers_.rows(memory);
    call_.column_index = numbers_.columns(memory);
    call_.row_tiles = numbers_.row_tiles(memory);
    call_.intervals = numbers_.intervals(memory);
    call_.constants = parameters_->constants();
    call_.offsets = parameters_->offsets();
    fill_operands(job_.operands);
    if (is_kept)
        return;
    if (shape().constants || call_.offsets)
        launch("prepare", {.x = call_.batches, .strides = true}, 1);
    if (!key.empty())
        module_.kept().keep(std::move(key), parameters_);
}

std::shared_ptr<const Parameters> Run::make_parameters() {
    const std::vector<char>& bytes = numbers_.bytes();
    auto made = std::make_shared<const Parameters>(
        module_.device(), bytes.size(),
        std::size_t(shape().constants * call_.batches) * 8,
        call_.batches > 1 ? std::size_t(shape().offsets() * call_.batches) * 8
                          : 0,
        stream_);
    copy(made->data(), bytes.data(), bytes.size(), "the parameters");
    return made;
}

/// Whether there is one state for each result, which its block has in the end.
bool Run::ends_in_blocks() const {
    return call_.segments == 1 &&
           (shape().folds_blocks ? row_blocks_ == 1
                                 : plan().lanes == Lanes::Columns);
}

void Run::take_states() {
    if (!shape().reduces || call_.finishes)
        return;
    state_ = layout_.take(bytes_of(call_.states));
    if (!shape().folds_rows)
        return;
    for (std::int64_t run = call_.run; run > most_merged;) {
        run = ceil_div(run, most_merged);
        merged_.push_back(layout_.take(bytes_of(run * runs_)));
    }
    folded_ = layout_.take(bytes_of(runs_));
}

void Run::take_memory() {
    memory_.emplace(module_.device(), layout_.size(), stream_,
                    "the reduction's state");
    call_.state = state(state_);
}

void Run::launch(const char* kernel, Grid grid, std::int64_t runs) {
    for (call_.first_run = 0; call_.first_run < runs;
         call_.first_run += most_blocks) {
        grid.z = std::min<std::int64_t>(runs - call_.first_run, most_blocks);
        module_.launch(kernel, grid, &call_, stream_);
    }
}

/// A thread for each of `count`, or some.
Grid Run::striding(std::int64_t count, std::int64_t threads) const {
    return {.x = ceil_div(count * threads, plan().threads), .strides = true};
}

/// A result, or what takes its place, from so many states.
Grid Run::merging(std::int64_t results, std::int64_t states) {
    constexpr std::int64_t least = 4, most_lanes = 32; // of a lane; of a warp
    call_.group = states;
    call_.lanes = std::int64_t(std::bit_floor(std::uint64_t(
        std::clamp<std::int64_t>(states / least, 1, most_lanes))));
    return striding(results, call_.lanes);
}

void Run::copy(char* to, const void* from, std::size_t bytes,
               const char* what) {
    copy_to_device(driver(), CUdeviceptr(reinterpret_cast<std::uintptr_t>(to)),
                   from, bytes, stream_, what);
}

void Run::fill_operands(std::span<const DeviceOperand> operands) {
    if (operands.size() != std::size_t(shape().operands))
        internal_error("operands of another graph");
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const DeviceOperand& from = operands[k];
        Operand& to = call_.operands[k];
        to.base = from.host_bytes ? parameters_->data() + numbers_.parameter(k)
                                  : from.data;
        to.stride = from.stride;
        to.component = from.component;
        to.column = from.column;
        std::ranges::copy(from.batch, to.batch);
    }
}

void Run::begin() {
    take_states();
    take_memory();
    take_parameters();
}

void Run::accumulate(Interval columns,
                     std::span<const DeviceOperand> operands) {
    fill_operands(operands);
    call_.first_column = columns.first;
    call_.columns = columns.size();
    std::int64_t segments = call_.segments;
    if (columns.size() < job_.columns) {
        call_.first_segment = columns.first / call_.segment;
        segments = columns.last == job_.columns
                       ? call_.segments - call_.first_segment
                       : columns.size() / call_.segment;
    }
    launch("accumulate", {.x = row_blocks_, .y = segments},
           job_.chosen.empty() ? runs_ : call_.parts);
    call_.columns = job_.columns;
}

/// Every `group` neighbouring states of a run become one.
void Run::merge_states(std::size_t place, std::int64_t group) {
    const std::int64_t left = ceil_div(call_.run, group);
    call_.merged = state(place);
    call_.groups = left;
    launch("merge_states", merging(left, group), runs_);
    call_.state = call_.merged;
    call_.run = left;
    call_.states = left * runs_;
}

void Run::finish() {
    if (!shape().reduces)
        return write_pairs();
    for (const std::size_t place : merged_)
        merge_states(place, most_merged);
    launch("finish",
           shape().folds_rows ? merging(1, call_.run)
                              : merging(call_.rows, call_.segments),
           runs_);
}

const double* Run::fold() {
    for (const std::size_t place : merged_)
        merge_states(place, most_merged);
    merge_states(folded_, call_.run);
    return call_.state;
}

void Run::finish_folded(std::span<const double> states, std::int64_t count) {
    state_ = layout_.take(states.size_bytes());
    take_memory();
    take_parameters();
    copy(memory_->data() + state_, states.data(), states.size_bytes(),
         "states of rows");
    call_.run = count;
    call_.states = count * runs_;
    launch("finish", merging(1, count), runs_);
}

void Run::write_pairs() {
    if (job_.pairs == Pairs::Pairwise) {
        call_.first_column = call_.first_row; // (k, k), wherever a piece begins
        return launch("zip", striding(call_.rows), runs_);
    }
    const std::int64_t columns =
        std::int64_t(plan().threads) * plan().columns_unrolled;
    launch("dense",
           {.x = ceil_div(call_.columns, columns),
            .y = std::min(ceil_div(call_.rows, plan().rows_per_thread),
                          most_blocks)},
           runs_);
}

void Run::compute() {
    call_.finishes = shape().reduces && ends_in_blocks();
    begin();
    if (shape().reduces)
        accumulate({0, job_.columns}, job_.operands);
    if (!call_.finishes)
        finish();
}

void run(const Module& module, const Job& job, CUstream stream) {
    const Device::Current current(module.device());
    Run(module, job, stream).compute();
}

} // namespace tilefold::cuda
