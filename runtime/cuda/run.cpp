// runtime/cuda/run.cpp - fills a kernel's argument and queues the kernels.

#include "runtime/cuda/run.h"

#include "compiler/backends/cuda/call.h"
#include "formulas/diagnostic.h"
#include "runtime/cuda/row_tiles.h"

#include <algorithm>
#include <vector>

namespace tilefold::cuda {
namespace {

static_assert(most_batch_dimensions == batch_dimensions);

/// Tasks that fill any card of today several times over.
constexpr std::int64_t wanted_tasks = 2048;
/// Tiles of a segment: states are merged that much more rarely than added to.
constexpr std::int64_t least_tiles = 8;
/// Neighbouring states that one thread makes one.
constexpr std::int64_t merge_group = 64;

std::size_t padded(std::size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/// What lies one after the other in one piece of the device's memory.
class Places {
public:
    std::size_t take(std::size_t bytes) {
        const std::size_t place = size_;
        size_ += padded(bytes);
        return place;
    }
    std::size_t size() const { return size_; }

private:
    std::size_t size_ = 0;
};

/// Literals, lists and the host's parameters, as they are copied.
class Numbers {
public:
    Numbers(const Job& job, const ChosenTiles& tiles) {
        append(job.literals.data(), job.literals.size_bytes());
        for (const DeviceOperand& operand : job.operands)
            parameters_.push_back(
                append(operand.data - operand.host_before, operand.host_bytes) +
                std::size_t(operand.host_before));
        rows_ = append_list(job.row_list);
        columns_ = append_list(job.column_list);
        row_tiles_ =
            append(tiles.rows.data(), tiles.rows.size() * sizeof(RowTile));
        intervals_ = append(tiles.intervals.data(),
                            tiles.intervals.size() * sizeof(ColumnInterval));
    }

    const std::vector<char>& bytes() const { return bytes_; }
    /// The place of an operand's element 0.
    std::size_t parameter(std::size_t number) const {
        return parameters_[number];
    }
    const long long* rows(const char* start) const {
        return list(start, rows_);
    }
    const long long* columns(const char* start) const {
        return list(start, columns_);
    }

    const RowTile* row_tiles(const char* start) const {
        return reinterpret_cast<const RowTile*>(start + row_tiles_);
    }
    const ColumnInterval* intervals(const char* start) const {
        return reinterpret_cast<const ColumnInterval*>(start + intervals_);
    }

private:
    static constexpr std::size_t no_list = ~std::size_t(0);

    std::size_t append(const void* from, std::size_t size) {
        const std::size_t place = bytes_.size();
        const auto* data = static_cast<const char*>(from);
        bytes_.insert(bytes_.end(), data, data + size);
        bytes_.resize(padded(bytes_.size()));
        return place;
    }
    std::size_t append_list(std::span<const std::int64_t> list) {
        return list.data() ? append(list.data(), list.size_bytes()) : no_list;
    }
    static const long long* list(const char* start, std::size_t place) {
        return place == no_list
                   ? nullptr
                   : reinterpret_cast<const long long*>(start + place);
    }

    std::vector<char> bytes_;
    std::vector<std::size_t> parameters_;
    std::size_t rows_ = no_list, columns_ = no_list;
    std::size_t row_tiles_ = 0, intervals_ = 0;
};

} // namespace

/// All that the kernels of a call need lies in one piece of memory: to take and
/// give back each by itself would cost more than a small kernel.
class Run::Kernels {
public:
    Kernels(const Module& module, const Job& job, StreamHandle stream)
        : module_(module), job_(job), stream_(stream),
          tiles_(chosen_tiles(job.chosen, job.rows, plan().block_rows())),
          numbers_(job, tiles_) {
        fill_sizes();
    }

    void begin();
    void accumulate(Interval columns, std::span<const DeviceOperand> operands);
    void finish();
    const double* fold();
    void finish_folded(std::span<const double> states, std::int64_t count);

private:
    const Shape& shape() const { return module_.image().shape; }
    const Plan& plan() const { return module_.image().plan; }
    const Driver& driver() const { return module_.device().driver(); }
    void launch(const char* kernel, std::int64_t blocks) {
        module_.launch(kernel, blocks, &call_, stream_);
    }
    double* doubles(std::size_t place) {
        return reinterpret_cast<double*>(memory_->data() + place);
    }
    std::size_t bytes_of(std::int64_t states) const {
        return std::size_t(states * shape().slots) * 8;
    }

    void fill_sizes();
    void fill_segments();
    void take_numbers();
    void take_states();
    void take_memory();
    void copy(std::size_t place, const void* from, std::size_t bytes,
              const char* what);
    void fill_operands(std::span<const DeviceOperand> operands);
    void merge_states(std::size_t place, std::int64_t group);
    void write_pairs();

    const Module& module_;
    const Job& job_;
    StreamHandle stream_;
    ChosenTiles tiles_; ///< of chosen pairs; else none
    Numbers numbers_;
    Places places_;
    std::optional<StreamMemory> memory_;
    std::size_t constants_ = 0, state_ = 0;
    std::vector<std::size_t> merged_; ///< by how often states were merged
    std::size_t folded_ = 0;          ///< one state a run
    std::int64_t runs_ = 1;
    Call call_{};
};

void Run::Kernels::fill_sizes() {
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

void Run::Kernels::fill_segments() {
    const bool chooses = !job_.chosen.empty();
    call_.row_blocks = chooses ? std::int64_t(tiles_.rows.size())
                               : ceiling(call_.rows, plan().block_rows());
    if (!chooses) {
        const Segments segments = job_.segments.value_or(
            segments_of(plan(), call_.rows, runs_, call_.columns));
        call_.segments = segments.count;
        call_.segment = segments.columns;
    }
    call_.run = call_.rows * call_.segments;
    call_.states = call_.run * runs_;
}

void Run::Kernels::take_numbers() {
    places_.take(numbers_.bytes().size());
    constants_ =
        places_.take(std::size_t(shape().constants * call_.batches) * 8);
}

void Run::Kernels::take_states() {
    if (!shape().reduces)
        return;
    state_ = places_.take(bytes_of(call_.states));
    if (!shape().folds_rows)
        return;
    for (std::int64_t run = call_.run; run > merge_group;) {
        run = ceiling(run, merge_group);
        merged_.push_back(places_.take(bytes_of(run * runs_)));
    }
    folded_ = places_.take(bytes_of(runs_));
}

void Run::Kernels::take_memory() {
    memory_.emplace(module_.device(), places_.size(), stream_,
                    shape().reduces ? "the reduction's state"
                                    : "the parameters");
    copy(0, numbers_.bytes().data(), numbers_.bytes().size(), "the parameters");
    const char* memory = memory_->data();
    call_.literals = doubles(0);
    call_.row_index = numbers_.rows(memory);
    call_.column_index = numbers_.columns(memory);
    call_.row_tiles = numbers_.row_tiles(memory);
    call_.intervals = numbers_.intervals(memory);
    call_.constants = doubles(constants_);
    call_.state = doubles(state_);
    fill_operands(job_.operands);
    if (shape().constants)
        launch("prepare", call_.batches);
}

/// From pageable memory: copied away when the call returns.
void Run::Kernels::copy(std::size_t place, const void* from, std::size_t bytes,
                        const char* what) {
    if (bytes == 0)
        return;
    driver().check(driver().cuMemcpyHtoDAsync(
                       DevicePointer(reinterpret_cast<std::uintptr_t>(
                           memory_->data() + place)),
                       from, bytes, stream_),
                   what);
}

void Run::Kernels::fill_operands(std::span<const DeviceOperand> operands) {
    if (operands.size() != std::size_t(shape().operands))
        internal_error("operands of another graph");
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const DeviceOperand& from = operands[k];
        Operand& to = call_.operands[k];
        to.base = from.host_bytes ? memory_->data() + numbers_.parameter(k)
                                  : from.data;
        to.stride = from.stride;
        to.component = from.component;
        to.column = from.column;
        std::ranges::copy(from.batch, to.batch);
    }
}

void Run::Kernels::begin() {
    take_numbers();
    take_states();
    take_memory();
}

void Run::Kernels::accumulate(Interval columns,
                              std::span<const DeviceOperand> operands) {
    fill_operands(operands);
    call_.first_column = columns.first;
    call_.columns = columns.size();
    call_.met_segments = call_.segments;
    if (columns.size() < job_.columns) {
        call_.first_segment = columns.first / call_.segment;
        call_.met_segments = columns.last == job_.columns
                                 ? call_.segments - call_.first_segment
                                 : columns.size() / call_.segment;
    }
    launch("accumulate", call_.row_blocks * call_.met_segments *
                             (job_.chosen.empty() ? runs_ : call_.parts));
    call_.columns = job_.columns;
}

/// Every `group` neighbouring states of a run become one.
void Run::Kernels::merge_states(std::size_t place, std::int64_t group) {
    const std::int64_t left = ceiling(call_.run, group);
    call_.merged = doubles(place);
    call_.group = group;
    launch("merge_states", ceiling(left * runs_, plan().threads));
    call_.state = call_.merged;
    call_.run = left;
    call_.states = left * runs_;
}

void Run::Kernels::finish() {
    if (!shape().reduces)
        return write_pairs();
    for (const std::size_t place : merged_)
        merge_states(place, merge_group);
    call_.group = shape().folds_rows ? call_.run : call_.segments;
    const std::int64_t kept = shape().folds_rows ? 1 : call_.rows;
    launch("finish", ceiling(kept * runs_, plan().threads));
}

const double* Run::Kernels::fold() {
    for (const std::size_t place : merged_)
        merge_states(place, merge_group);
    merge_states(folded_, call_.run);
    return call_.state;
}

void Run::Kernels::finish_folded(std::span<const double> states,
                                 std::int64_t count) {
    take_numbers();
    state_ = places_.take(states.size_bytes());
    take_memory();
    copy(state_, states.data(), states.size_bytes(), "states of rows");
    call_.run = call_.group = count;
    call_.states = count * runs_;
    launch("finish", ceiling(runs_, plan().threads));
}

void Run::Kernels::write_pairs() {
    const bool dense = job_.pairs == Pairs::Dense;
    if (!dense) // (k, k), wherever a piece begins
        call_.first_column = call_.first_row;
    const std::int64_t pairs =
        call_.rows * (dense ? call_.columns : 1) * call_.batches;
    launch(dense ? "dense" : "zip", ceiling(pairs, plan().threads));
}

Segments segments_of(const Plan& plan, std::int64_t rows, std::int64_t runs,
                     std::int64_t columns) {
    const std::int64_t tile = plan.tile_columns;
    const std::int64_t row_blocks = ceiling(rows, plan.block_rows()) * runs;
    const std::int64_t most = ceiling(columns, tile * least_tiles);
    const std::int64_t wanted =
        ceiling(wanted_tasks, std::max<std::int64_t>(row_blocks, 1));
    Segments segments;
    segments.count =
        std::clamp<std::int64_t>(std::min(wanted, most), 1, merge_group);
    segments.columns = std::max<std::int64_t>(
                           1, ceiling(ceiling(columns, tile), segments.count)) *
                       tile;
    return segments;
}

std::int64_t parts_of(const Image& image, std::int64_t width) {
    return image.shape.is_open ? ceiling(width, image.plan.width_block) : 1;
}

Run::Run(const Module& module, const Job& job, StreamHandle stream)
    : kernels_(std::make_unique<Kernels>(module, job, stream)) {}

Run::~Run() = default;

void Run::begin() {
    kernels_->begin();
}

void Run::accumulate(Interval columns,
                     std::span<const DeviceOperand> operands) {
    kernels_->accumulate(columns, operands);
}

void Run::finish() {
    kernels_->finish();
}

const double* Run::fold() {
    return kernels_->fold();
}

void Run::finish_folded(std::span<const double> states, std::int64_t count) {
    kernels_->finish_folded(states, count);
}

void run(const Module& module, const Job& job, StreamHandle stream) {
    const Device::Current current(module.device());
    Run run(module, job, stream);
    run.begin();
    if (module.image().shape.reduces)
        run.accumulate({0, job.columns}, job.operands);
    run.finish();
}

} // namespace tilefold::cuda
