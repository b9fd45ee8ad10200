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

std::int64_t ceiling(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

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

/// The kernels of one call. All that they need lies in one piece of memory: to
/// take and give back each by itself would cost more than a small kernel.
class Run {
public:
    Run(const Module& module, const Job& job, StreamHandle stream)
        : module_(module), job_(job), stream_(stream),
          tiles_(chosen_tiles(job.chosen, job.rows, plan().block_rows())),
          numbers_(job, tiles_) {
        fill_sizes();
        take_places();
    }

    void go() {
        const StreamMemory memory(module_.device(), places_.size(), stream_,
                                  needed_for());
        copy_numbers(memory.data());
        fill_pointers(memory.data());
        if (shape().constants)
            launch("prepare", call_.batches);
        if (shape().reduces)
            reduce(memory.data());
        else
            write_pairs();
    }

private:
    const Shape& shape() const { return module_.image().shape; }
    const Plan& plan() const { return module_.image().plan; }
    void launch(const char* kernel, std::int64_t blocks) {
        module_.launch(kernel, blocks, &call_, stream_);
    }
    static double* doubles(char* at) { return reinterpret_cast<double*>(at); }
    const char* needed_for() const {
        return shape().reduces ? "the reduction's state" : "the parameters";
    }

    void fill_sizes();
    void fill_segments();
    void take_places();
    void copy_numbers(char* memory);
    void fill_pointers(char* memory);
    void reduce(char* memory);
    void fold_rows(char* memory);
    void write_pairs();

    const Module& module_;
    const Job& job_;
    StreamHandle stream_;
    ChosenTiles tiles_; ///< of chosen pairs; else none
    Numbers numbers_;
    Places places_;
    std::size_t constants_ = 0, state_ = 0;
    std::vector<std::size_t> merged_; ///< by how often states were merged
    std::int64_t runs_ = 1;
    Call call_{};
};

void Run::fill_sizes() {
    call_.batches = 1;
    for (std::int64_t extent : job_.batch)
        call_.batches *= extent;
    std::ranges::copy(job_.batch, call_.batch);
    call_.constants_stride = shape().constants;
    call_.rows = job_.rows;
    call_.columns = job_.columns;
    call_.width = job_.width;
    call_.parts = shape().is_open ? ceiling(job_.width, plan().width_block) : 1;
    call_.segments = 1;
    call_.out = job_.out;
    call_.out_row = job_.out_row;
    call_.out_column = job_.out_column;
    call_.out_component = job_.out_component;
    std::ranges::copy(job_.out_batch, call_.out_batch);
    call_.accumulate = job_.accumulate;
    if (shape().reduces)
        fill_segments();
}

void Run::fill_segments() {
    const bool chooses = !job_.chosen.empty();
    const std::int64_t tile = plan().tile_columns;
    runs_ = call_.parts * call_.batches;
    call_.row_blocks = chooses ? std::int64_t(tiles_.rows.size())
                               : ceiling(call_.rows, plan().block_rows());
    if (!chooses)
        call_.segments =
            segments_of(call_.row_blocks * runs_, call_.columns, tile);
    call_.segment =
        std::max<std::int64_t>(
            1, ceiling(ceiling(call_.columns, tile), call_.segments)) *
        tile;
    call_.run = call_.rows * call_.segments;
    call_.states = call_.run * runs_;
}

void Run::take_places() {
    places_.take(numbers_.bytes().size());
    constants_ =
        places_.take(std::size_t(shape().constants * call_.batches) * 8);
    if (!shape().reduces)
        return;
    const auto bytes = [&](std::int64_t states) {
        return std::size_t(states * shape().slots) * 8;
    };
    state_ = places_.take(bytes(call_.states));
    if (!shape().folds_rows)
        return;
    for (std::int64_t run = call_.run; run > merge_group;) {
        run = ceiling(run, merge_group);
        merged_.push_back(places_.take(bytes(run * runs_)));
    }
}

void Run::copy_numbers(char* memory) {
    const std::vector<char>& bytes = numbers_.bytes();
    if (bytes.empty())
        return;
    // From pageable memory: copied away when the call returns.
    const Driver& driver = module_.device().driver();
    driver.check(driver.cuMemcpyHtoDAsync(
                     DevicePointer(reinterpret_cast<std::uintptr_t>(memory)),
                     bytes.data(), bytes.size(), stream_),
                 "the parameters");
}

void Run::fill_pointers(char* memory) {
    if (job_.operands.size() != std::size_t(shape().operands))
        internal_error("operands of another graph");
    for (std::size_t k = 0; k < job_.operands.size(); ++k) {
        const DeviceOperand& from = job_.operands[k];
        Operand& to = call_.operands[k];
        to.base = from.host_bytes ? memory + numbers_.parameter(k) : from.data;
        to.stride = from.stride;
        to.component = from.component;
        to.column = from.column;
        std::ranges::copy(from.batch, to.batch);
    }
    call_.literals = doubles(memory);
    call_.row_index = numbers_.rows(memory);
    call_.column_index = numbers_.columns(memory);
    call_.row_tiles = numbers_.row_tiles(memory);
    call_.intervals = numbers_.intervals(memory);
    call_.constants = doubles(memory + constants_);
    call_.state = doubles(memory + state_);
}

void Run::reduce(char* memory) {
    launch("accumulate", call_.row_blocks * call_.segments *
                             (job_.chosen.empty() ? runs_ : call_.parts));
    call_.group = call_.segments;
    if (shape().folds_rows)
        fold_rows(memory);
    const std::int64_t kept = shape().folds_rows ? 1 : call_.rows;
    launch("finish", ceiling(kept * runs_, plan().threads));
}

/// Fewer and fewer states, until one thread takes the rest.
void Run::fold_rows(char* memory) {
    for (const std::size_t place : merged_) {
        const std::int64_t left = ceiling(call_.run, merge_group);
        call_.merged = doubles(memory + place);
        call_.group = merge_group;
        launch("merge_states", ceiling(left * runs_, plan().threads));
        call_.state = call_.merged;
        call_.run = left;
        call_.states = left * runs_;
    }
    call_.group = call_.run;
}

void Run::write_pairs() {
    const bool dense = job_.pairs == Pairs::Dense;
    const std::int64_t pairs =
        call_.rows * (dense ? call_.columns : 1) * call_.batches;
    launch(dense ? "dense" : "zip", ceiling(pairs, plan().threads));
}

} // namespace

std::int64_t segments_of(std::int64_t row_blocks, std::int64_t columns,
                         std::int64_t tile) {
    const std::int64_t most = ceiling(columns, tile * least_tiles);
    const std::int64_t wanted =
        ceiling(wanted_tasks, std::max<std::int64_t>(row_blocks, 1));
    return std::clamp<std::int64_t>(std::min(wanted, most), 1, merge_group);
}

void run(const Module& module, const Job& job, StreamHandle stream) {
    const Device::Current current(module.device());
    Run(module, job, stream).go();
}

} // namespace tilefold::cuda
