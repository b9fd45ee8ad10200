// runtime/cuda/run.cpp - fills a kernel's argument and queues the kernels.

#include "runtime/cuda/run.h"

#include "compiler/backends/cuda/call.h"
#include "formulas/diagnostic.h"

#include <algorithm>
#include <cstring>
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

/// Literals, lists and the host's parameters, in one piece of memory of the
/// device.
class Numbers {
public:
    Numbers(const Device& device, const Job& job, StreamHandle stream)
        : bytes_(packed(job)),
          memory_(device, bytes_.size(), stream, "the parameters") {
        if (bytes_.empty())
            return;
        const Driver& driver = device.driver();
        // From pageable memory: copied away when the call returns.
        driver.check(
            driver.cuMemcpyHtoDAsync(
                DevicePointer(reinterpret_cast<std::uintptr_t>(memory_.data())),
                bytes_.data(), bytes_.size(), stream),
            "the parameters");
    }

    const double* literals() const {
        return reinterpret_cast<const double*>(memory_.data());
    }
    const char* parameter(std::size_t number) const {
        return memory_.data() + offsets_[number];
    }
    const long long* rows() const { return list(rows_); }
    const long long* columns() const { return list(columns_); }

private:
    /// Where `size` more bytes begin.
    static std::size_t append(std::vector<char>& bytes, const void* from,
                              std::size_t size) {
        const std::size_t start = bytes.size();
        const auto* data = static_cast<const char*>(from);
        bytes.insert(bytes.end(), data, data + size);
        bytes.resize(padded(bytes.size()));
        return start;
    }

    std::vector<char> packed(const Job& job) {
        std::vector<char> bytes;
        append(bytes, job.literals.data(), job.literals.size_bytes());
        for (const DeviceOperand& operand : job.operands)
            offsets_.push_back(append(bytes, operand.data - operand.host_before,
                                      operand.host_bytes) +
                               std::size_t(operand.host_before));
        const auto add_list = [&](std::span<const std::int64_t> list) {
            return list.data() ? append(bytes, list.data(), list.size_bytes())
                               : no_list;
        };
        rows_ = add_list(job.row_list);
        columns_ = add_list(job.column_list);
        return bytes;
    }

    const long long* list(std::size_t offset) const {
        return offset == no_list ? nullptr
                                 : reinterpret_cast<const long long*>(
                                       memory_.data() + offset);
    }

    static constexpr std::size_t no_list = ~std::size_t(0);
    std::size_t rows_ = no_list, columns_ = no_list;
    std::vector<std::size_t> offsets_;
    std::vector<char> bytes_;
    StreamMemory memory_;
};

/// The kernels of one call.
class Run {
public:
    Run(const Module& module, const Job& job, StreamHandle stream)
        : module_(module), job_(job), stream_(stream),
          numbers_(module.device(), job, stream),
          constants_(module.device(),
                     std::size_t(shape().constants * batches()) * 8, stream,
                     "values of the parameters") {
        fill();
    }

    void go() {
        if (shape().constants)
            launch("prepare", call_.batches);
        if (shape().reduces)
            reduce();
        else
            write_pairs();
    }

private:
    const Shape& shape() const { return module_.image().shape; }
    const Plan& plan() const { return module_.image().plan; }
    std::int64_t batches() const {
        std::int64_t count = 1;
        for (std::int64_t extent : job_.batch)
            count *= extent;
        return count;
    }
    void launch(const char* kernel, std::int64_t blocks) {
        module_.launch(kernel, blocks, &call_, stream_);
    }

    void fill() {
        if (job_.operands.size() != std::size_t(shape().operands))
            internal_error("operands of another graph");
        for (std::size_t k = 0; k < job_.operands.size(); ++k) {
            const DeviceOperand& from = job_.operands[k];
            Operand& to = call_.operands[k];
            to.base = from.host_bytes ? numbers_.parameter(k) : from.data;
            to.stride = from.stride;
            to.component = from.component;
            to.column = from.column;
            std::ranges::copy(from.batch, to.batch);
        }
        call_.constants = reinterpret_cast<double*>(constants_.data());
        call_.constants_stride = shape().constants;
        call_.literals = numbers_.literals();
        call_.row_index = numbers_.rows();
        call_.column_index = numbers_.columns();
        call_.rows = job_.rows;
        call_.columns = job_.columns;
        call_.width = job_.width;
        call_.batches = batches();
        call_.parts =
            shape().is_open ? ceiling(job_.width, plan().width_block) : 1;
        call_.segments = 1;
        std::ranges::copy(job_.batch, call_.batch);
        call_.out = job_.out;
        call_.out_row = job_.out_row;
        call_.out_column = job_.out_column;
        call_.out_component = job_.out_component;
        std::ranges::copy(job_.out_batch, call_.out_batch);
        call_.accumulate = job_.accumulate;
    }

    StreamMemory states(std::int64_t count) {
        return {module_.device(), std::size_t(count * shape().slots) * 8,
                stream_, "the reduction's state"};
    }

    void reduce() {
        const std::int64_t block =
            std::int64_t(plan().threads) * plan().rows_per_thread;
        const std::int64_t row_blocks = ceiling(call_.rows, block);
        const std::int64_t tile = plan().tile_columns;
        const std::int64_t runs = call_.parts * call_.batches;
        call_.segments = segments_of(row_blocks * runs, call_.columns, tile);
        call_.segment =
            std::max<std::int64_t>(
                1, ceiling(ceiling(call_.columns, tile), call_.segments)) *
            tile;
        call_.run = call_.rows * call_.segments;
        call_.states = call_.run * runs;
        StreamMemory held = states(call_.states);
        call_.state = reinterpret_cast<double*>(held.data());
        launch("accumulate", row_blocks * call_.segments * runs);
        call_.group = call_.segments;
        if (shape().folds_rows)
            fold_rows(held, runs);
        const std::int64_t kept = shape().folds_rows ? 1 : call_.rows;
        launch("finish", ceiling(kept * runs, plan().threads));
    }

    /// Fewer and fewer states, until one thread takes the rest.
    void fold_rows(StreamMemory& held, std::int64_t runs) {
        while (call_.run > merge_group) {
            const std::int64_t left = ceiling(call_.run, merge_group);
            StreamMemory merged = states(left * runs);
            call_.merged = reinterpret_cast<double*>(merged.data());
            call_.group = merge_group;
            launch("merge_states", ceiling(left * runs, plan().threads));
            held = std::move(merged);
            call_.state = call_.merged;
            call_.run = left;
            call_.states = left * runs;
        }
        call_.group = call_.run;
    }

    void write_pairs() {
        const bool dense = job_.pairs == Pairs::Dense;
        const std::int64_t pairs =
            call_.rows * (dense ? call_.columns : 1) * call_.batches;
        launch(dense ? "dense" : "zip", ceiling(pairs, plan().threads));
    }

    const Module& module_;
    const Job& job_;
    StreamHandle stream_;
    Numbers numbers_;
    StreamMemory constants_;
    Call call_{};
};

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
