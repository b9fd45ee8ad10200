// runtime/cuda/host_run.cpp - who brings what when.
//
// Copies to the device have a stream of their own; two pieces are on the device
// at a time, each with a stream: while one is computed, the rows of the next
// one come, and results of the last one leave. Columns stay where they all fit;
// else they come again for every piece, into two places in turn.

#include "runtime/cuda/host_run.h"

#include "runtime/cpu/float_mode.h"
#include "runtime/cuda/capture.h"
#include "runtime/cuda/host_arrays.h"
#include "runtime/cuda/run.h"
#include "runtime/schedule/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tilefold::cuda {
namespace {

/// What is left of rows that are folded, by piece: slot s of run r at
/// [s * runs + r].
using Folded = std::vector<std::vector<double>>;

/// Memory that grows.
class DeviceBuffer {
public:
    DeviceBuffer(const Device& device, const OwnStream& stream)
        : device_(device), stream_(stream) {}

    /// Nothing that is queued may still use it where it grows.
    char* of(std::size_t bytes) {
        if (bytes > bytes_) {
            memory_.reset();
            memory_.emplace(device_, bytes, stream_.handle(),
                            "a piece of the call",
                            "lower Options(device_bytes=), or free memory of "
                            "the GPU");
            bytes_ = bytes;
        }
        return memory_ ? memory_->data() : nullptr;
    }

private:
    const Device& device_;
    const OwnStream& stream_;
    std::optional<StreamMemory> memory_;
    std::size_t bytes_ = 0;
};

/// Pieces through one device.
class TransferPipeline {
public:
    TransferPipeline(const HostArrays& arrays, const DeviceShare& sharer,
                     Folded& folded, const Watcher& watcher)
        : arrays_(arrays), watcher_(watcher), module_(*sharer.module),
          parts_(sharer.station->parts()), folded_(folded),
          resident_(module_.device(), parts_.copies),
          resident_ready_(module_.device()),
          slots_{Slot(module_.device(), parts_.computes[0]),
                 Slot(module_.device(), parts_.computes[1])},
          columns_{Columns(module_.device(), parts_.copies),
                   Columns(module_.device(), parts_.copies)} {}

    /// What is queued still uses memory that goes.
    ~TransferPipeline() {
        const Driver& driver = module_.device().driver();
        for (const OwnStream& stream : parts_.computes)
            driver.cuStreamSynchronize(stream.handle());
        driver.cuStreamSynchronize(parts_.copies.handle());
    }
    TransferPipeline(const TransferPipeline&) = delete;
    TransferPipeline& operator=(const TransferPipeline&) = delete;

    /// Queues a piece, and waits for the last but one; false: stop.
    bool take(const WorkItem& piece) {
        Slot& slot = slots_[next_];
        next_ = 1 - next_;
        leave(slot);
        bring_resident(piece);
        bring_rows(slot, piece);
        const bool goes_on = compute(slot, piece);
        slot.done.record(slot.stream);
        slot.piece = piece;
        return goes_on;
    }
    void finish() {
        leave(slots_[next_]);
        leave(slots_[1 - next_]);
    }

private:
    /// A piece on the device.
    struct Slot {
        Slot(const Device& device, const OwnStream& stream)
            : stream(stream), memory(device, stream), ready(device),
              done(device) {}
        const OwnStream& stream;
        DeviceBuffer memory; ///< of rows and results
        Event ready, done;
        std::optional<WorkItem> piece;
        std::optional<DenseCopy> results;
        std::vector<DeviceOperand> operands;
        Job job;
        std::optional<Run> run; ///< of `job`
        const double* state = nullptr;
    };
    /// Columns that do not stay.
    struct Columns {
        Columns(const Device& device, const OwnStream& stream)
            : memory(device, stream), ready(device), used(device) {}
        DeviceBuffer memory;
        Event ready, used;
    };

    bool stays() const {
        return arrays_.cut().columns >= arrays_.job().columns;
    }
    bool folds() const {
        return arrays_.job().loop == LoopKind::FoldRows &&
               arrays_.cut().cuts_rows();
    }
    void upload(const InFlight& brought, char* memory) {
        for (const InFlight::Array& array : brought.arrays)
            parts_.transfer.upload(array.copy, array.from, memory + array.place,
                                   parts_.copies);
    }

    void bring_resident(const WorkItem& piece);
    void bring_rows(Slot& slot, const WorkItem& piece);
    bool compute(Slot& slot, const WorkItem& piece);
    bool accumulate(Slot& slot, const WorkItem& piece);
    bool watch(const WorkItem& piece, std::int64_t columns) const {
        return watcher_.advance(double(piece.batches.size()) *
                                double(piece.rows.size()) * double(columns));
    }
    void leave(Slot& slot);

    const HostArrays& arrays_;
    const Watcher watcher_; ///< told how many pairs were queued
    const Module& module_;
    DeviceContext::Parts& parts_;
    Folded& folded_;
    DeviceBuffer resident_; ///< arrays read as both, and columns that stay
    Event resident_ready_;
    std::int64_t resident_of_ = -1; ///< piece of batches
    std::vector<DeviceOperand> resident_operands_;
    Slot slots_[2];
    Columns columns_[2];
    std::size_t next_ = 0, next_columns_ = 0;
};

/// Brings these once for all pieces of the same batches.
void TransferPipeline::bring_resident(const WorkItem& piece) {
    if (piece.batch_piece == resident_of_)
        return;
    resident_of_ = piece.batch_piece;
    for (Slot& slot : slots_)
        slot.done.stream_wait(parts_.copies); // they have been read
    const InFlight both = arrays_.both(piece);
    InFlight columns;
    if (stays())
        columns = arrays_.columns(piece, {0, arrays_.job().columns});
    char* memory = resident_.of(both.bytes + columns.bytes);
    resident_operands_ = arrays_.parameters(piece);
    upload(both, memory);
    arrays_.place(both, memory, resident_operands_);
    upload(columns, memory + both.bytes);
    arrays_.place(columns, memory + both.bytes, resident_operands_);
    resident_ready_.record(parts_.copies);
}

void TransferPipeline::bring_rows(Slot& slot, const WorkItem& piece) {
    const InFlight rows = arrays_.rows(piece);
    slot.results = arrays_.results(piece);
    const std::size_t results = slot.results->bytes();
    // Taken in the order of the stream that computes; copies wait for it.
    char* memory = slot.memory.of(rows.bytes + results);
    slot.done.record(slot.stream);
    slot.done.stream_wait(parts_.copies);
    upload(rows, memory);
    slot.operands = resident_operands_;
    arrays_.place(rows, memory, slot.operands);
    char* out = memory ? memory + rows.bytes : nullptr;
    if (arrays_.job().target.accumulate && !folds())
        parts_.transfer.upload(*slot.results, arrays_.out(piece), out,
                               parts_.copies);
    slot.ready.record(parts_.copies);
    arrays_.describe(piece, *slot.results, slot.job);
    slot.job.out = out;
    slot.job.operands = slot.operands;
}

bool TransferPipeline::compute(Slot& slot, const WorkItem& piece) {
    resident_ready_.stream_wait(slot.stream);
    slot.ready.stream_wait(slot.stream);
    std::vector<const TileList*> lists;
    if (const tilefold::Chosen* chosen = arrays_.job().chosen) {
        for (std::int64_t k = 0; k < arrays_.job().batches->count(); ++k)
            lists.push_back(&chosen->list(k));
        slot.job.chosen = lists;
    }
    slot.run.emplace(module_, slot.job, slot.stream.handle());
    slot.run->begin();
    const bool goes_on = module_.image().shape.reduces
                             ? accumulate(slot, piece)
                             : watch(piece, arrays_.job().columns);
    if (folds())
        slot.state = slot.run->fold();
    else
        slot.run->finish();
    return goes_on;
}

/// False where it was told to stop: results are of no use then.
bool TransferPipeline::accumulate(Slot& slot, const WorkItem& piece) {
    const std::int64_t all = arrays_.job().columns;
    if (stays()) {
        slot.run->accumulate({0, all}, slot.operands);
        return watch(piece, all);
    }
    for (std::int64_t first = 0; first < all; first += arrays_.cut().columns) {
        const Interval interval{first,
                                std::min(first + arrays_.cut().columns, all)};
        Columns& columns = columns_[next_columns_];
        next_columns_ = 1 - next_columns_;
        columns.used.stream_wait(parts_.copies);
        const InFlight brought = arrays_.columns(piece, interval);
        char* memory = columns.memory.of(brought.bytes);
        upload(brought, memory);
        columns.ready.record(parts_.copies);
        columns.ready.stream_wait(slot.stream);
        arrays_.place(brought, memory, slot.operands);
        slot.run->accumulate(interval, slot.operands);
        columns.used.record(slot.stream);
        if (!watch(piece, interval.size()))
            return false;
    }
    return true;
}

/// Results to the host, where the slot has any.
void TransferPipeline::leave(Slot& slot) {
    if (!slot.piece)
        return;
    const WorkItem piece = *std::exchange(slot.piece, std::nullopt);
    if (!folds()) {
        parts_.transfer.download(*slot.results, slot.job.out,
                                 arrays_.out(piece), slot.stream);
    } else {
        const Image& image = module_.image();
        const std::int64_t doubles =
            image.shape.slots * parts_of(image, arrays_.job().width);
        std::vector<double>& states = folded_[std::size_t(
            piece.batch_piece * arrays_.cut().row_pieces + piece.row_piece)];
        states.resize(std::size_t(doubles));
        const CopiedAxis axis{doubles, sizeof(double)};
        parts_.transfer.download({{&axis, 1}, sizeof(double)},
                                 reinterpret_cast<const char*>(slot.state),
                                 reinterpret_cast<char*>(states.data()),
                                 slot.stream);
    }
    slot.stream.finish();
    slot.run.reset();
}

/// Results of one batch, of the states that its pieces left.
void join(const HostArrays& arrays, const DeviceShare& sharer,
          std::int64_t batch_piece, std::span<const std::vector<double>> left) {
    const Device::Current current(sharer.module->device());
    DeviceContext::Parts& parts = sharer.station->parts();
    const OwnStream& stream = parts.computes[0];
    const auto count = std::int64_t(left.size());
    std::vector<double> states;
    for (std::size_t at = 0; at < left[0].size(); ++at)
        for (const std::vector<double>& of_piece : left)
            states.push_back(of_piece[at]);
    WorkItem piece = arrays.piece(batch_piece * count);
    const DenseCopy results = arrays.results(piece);
    DeviceBuffer room(sharer.module->device(), stream);
    char* out = room.of(results.bytes());
    if (arrays.job().target.accumulate)
        parts.transfer.upload(results, arrays.out(piece), out, stream);
    Job job;
    arrays.describe(piece, results, job);
    job.rows = arrays.job().rows;
    job.first_row = 0;
    job.out = out;
    const std::vector<DeviceOperand> operands = arrays.parameters(piece);
    job.operands = operands;
    Run run(*sharer.module, job, stream.handle());
    run.finish_folded(states, count);
    parts.transfer.download(results, out, arrays.out(piece), stream);
}

/// The devices' shares of one call.
class Shares {
public:
    Shares(const HostArrays& arrays, Progress& progress)
        : arrays_(arrays), progress_(progress), draw_(0, arrays.cut().pieces()),
          folded_(std::size_t(arrays.cut().pieces())) {}

    /// Takes pieces until none is left. Never throws.
    void work(const DeviceShare& sharer, const Watcher& watcher) {
        progress_.guard([&] {
            const Device::Current current(sharer.module->device());
            TransferPipeline conveyor(arrays_, sharer, folded_, watcher);
            if (draw_.each(progress_, [&](std::int64_t number) {
                    return conveyor.take(arrays_.piece(number));
                }))
                conveyor.finish();
        });
    }
    const Folded& folded() const { return folded_; }

private:
    const HostArrays& arrays_;
    Progress& progress_;
    Draw draw_;
    Folded folded_;
};

/// Each device has a thread of its own, whatever the pool has: a thread of a
/// device that waits would keep the others' pieces waiting.
void work_together(Shares& shares, std::span<const DeviceShare> sharers,
                   Progress& progress) {
    const unsigned mode = cpu::FloatMode().callers();
    std::atomic<std::size_t> working = sharers.size() - 1;
    std::vector<std::jthread> others;
    for (const DeviceShare& sharer : sharers.subspan(1))
        others.emplace_back([&] {
            shares.work(sharer, {progress, false, mode});
            --working;
        });
    shares.work(sharers[0], {progress, true, mode});
    while (working > 0) {
        progress.poll_if_due(mode);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

DeviceContext::DeviceContext(const Device& device) : device_(device) {
    const Device::Current current(device);
    const BesideCaptures beside(device.driver());
    parts_ = std::make_unique<Parts>(device);
}

DeviceContext::~DeviceContext() {
    device_.give_back([&] { parts_.reset(); });
}

void run_from_host(const HostCall& call, std::span<const DeviceShare> sharers,
                   const Poll& poll) {
    if (call.job.batches->count() == 0)
        return;
    const HostArrays arrays(call, sharers[0].module->image(),
                            int(sharers.size()));
    const Cut& cut = arrays.cut();
    Progress progress(poll, double(call.job.batches->count()) *
                                double(call.job.rows) *
                                double(call.job.columns));
    Shares shares(arrays, progress);
    work_together(shares, sharers, progress);
    progress.rethrow();
    if (call.job.loop != LoopKind::FoldRows || !cut.cuts_rows())
        return;
    const std::span<const std::vector<double>> folded = shares.folded();
    for (std::int64_t k = 0; k < cut.batch_pieces; ++k)
        join(arrays, sharers[0], k,
             folded.subspan(std::size_t(k * cut.row_pieces),
                            std::size_t(cut.row_pieces)));
}

} // namespace tilefold::cuda
