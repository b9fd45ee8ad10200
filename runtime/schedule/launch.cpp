// runtime/schedule/launch.cpp - who works on which piece, and when.
//
// Threads draw piece numbers from one counter, a few at a time where pieces
// are small. The calling thread works like the others and is the one that
// polls the user's callback; a run therefore ends even if no helper comes.

#include "runtime/schedule/launch.h"

#include "runtime/cpu/float_mode.h"
#include "runtime/schedule/parallel_for.h"
#include "runtime/schedule/worker.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

namespace tilefold {
namespace {

/// A run shorter than this is over before a helper has woken up.
constexpr double alone_nanoseconds = 60e3;
/// What computing takes for one of many constants.
constexpr double constant_nanoseconds = 1;
/// Work drawn at a time.
constexpr double draw_nanoseconds = 20e3;

/// Partial states and arrival counts of a wave; made once a run, in memory
/// of the caller.
class WaveMemory {
public:
    static std::size_t bytes(const Job& job, const Partition& partition) {
        if (partition.parts == 1)
            return 0;
        return BumpAllocator::rounded(
                   std::size_t(partition.wave * doubles(job, partition)) *
                   sizeof(double)) +
               BumpAllocator::rounded(std::size_t(partition.wave) *
                                      sizeof(Missing));
    }

    WaveMemory(const Job& job, const Partition& partition, std::byte* memory)
        : partition_(partition) {
        if (partition.parts == 1)
            return;
        BumpAllocator allocator(memory);
        partials_.stride = stride(job, partition);
        partials_.doubles = doubles(job, partition);
        partials_.states =
            allocator.take<double>(partition.wave * partials_.doubles);
        partials_.missing = allocator.take<Missing>(partition.wave);
        std::uninitialized_value_construct_n(partials_.missing, partition.wave);
    }

    /// Ready for the groups from `first` on.
    const Partials& begin(std::int64_t first) {
        partials_.first_group = first;
        if (partition_.parts > 1)
            for (std::int64_t g = 0; g < partition_.wave; ++g)
                partials_.missing[g] = std::int32_t(partition_.parts);
        return partials_;
    }

private:
    using Missing = std::atomic<std::int32_t>;

    static std::int64_t stride(const Job& job, const Partition& partition) {
        std::int64_t multiple = job.kernel->layout.row_multiple;
        return (partition.parts + multiple - 1) / multiple * multiple;
    }
    /// The doubles of a group's partial states.
    static std::int64_t doubles(const Job& job, const Partition& partition) {
        std::int64_t slots = job.kernel->slots(job.width);
        return job.loop == LoopKind::FoldRows
                   ? slots * stride(job, partition)
                   : slots * partition.block * partition.parts;
    }

    const Partition& partition_;
    Partials partials_;
};

/// Runs on the calling thread alone; without a callback nothing is counted.
void run_alone(Run& run) {
    ScratchLease scratch;
    cpu::FloatMode kernels;
    const std::size_t workers = Worker::bytes(run.job, run.partition);
    std::byte* bytes =
        scratch.reserve(workers + WaveMemory::bytes(run.job, run.partition));
    Worker worker(run, bytes, true, kernels.callers());
    WaveMemory memory(run.job, run.partition, bytes + workers);
    std::int64_t groups = run.partition.groups();
    for (std::int64_t g = 0; g < groups; g += run.partition.wave) {
        run.partials = memory.begin(g);
        std::int64_t end = std::min(g + run.partition.wave, groups);
        for (std::int64_t p = g * run.partition.parts;
             p < end * run.partition.parts; ++p)
            if (!worker.work(p))
                return;
    }
}

/// A thread's share of a wave; its worker is made for the first piece.
class WaveThread {
public:
    WaveThread(const Run& run, const Watcher& watcher)
        : run_(run), watcher_(watcher) {}

    bool operator()(std::int64_t piece) {
        if (!worker_)
            worker_.emplace(
                run_, scratch_.reserve(Worker::bytes(run_.job, run_.partition)),
                watcher_.polls, watcher_.callers_mode);
        return worker_->work(piece);
    }

private:
    const Run& run_;
    const Watcher watcher_;
    const cpu::FloatMode kernels_;
    ScratchLease scratch_;
    std::optional<Worker> worker_;
};

std::int64_t grain_of(const Job& job, const Partition& partition, int threads) {
    double piece = nanoseconds_of(job, partition) /
                   double(std::max<std::int64_t>(partition.pieces(), 1));
    std::int64_t fair = partition.pieces() / (8 * threads);
    return std::clamp<std::int64_t>(std::int64_t(draw_nanoseconds / piece), 1,
                                    std::max<std::int64_t>(fair, 1));
}

void run_together(Run& run, ThreadPool& pool) {
    Scratch bytes;
    WaveMemory memory(run.job, run.partition,
                      bytes.reserve(WaveMemory::bytes(run.job, run.partition)));
    std::int64_t groups = run.partition.groups();
    std::int64_t grain = grain_of(run.job, run.partition, pool.threads());
    for (std::int64_t g = 0; g < groups && !run.progress->stopped();
         g += run.partition.wave) {
        run.partials = memory.begin(g);
        std::int64_t end = std::min(g + run.partition.wave, groups);
        Draw draw(g * run.partition.parts, end * run.partition.parts, grain);
        parallel_for(pool, *run.progress, draw, [&](const Watcher& watcher) {
            return WaveThread(run, watcher);
        });
    }
}

/// Constants of the call, once for all batches and threads.
void compute_constants(const Job& job, Progress& progress, double* constants,
                       Run::Noted& noted) {
    cpu::FloatMode kernels;
    std::int64_t left_range = 0;
    tilefold_kernel_call call{};
    call.left_range = &left_range;
    call.operands = job.operands.data();
    call.literals = job.literals;
    call.constants = constants;
    call.rows = job.rows_of_axis();
    call.columns = job.columns_of_axis();
    call.width = job.width;
    call.functions = job.functions;
    compute_constants(*job.kernel, call, {progress, true, kernels.callers()});
    if (left_range)
        noted.left_range = true;
}

void run_watched(Run& run, ThreadPool& pool, const Poll& poll, bool alone) {
    Progress progress(poll, pairs_of(run.job, run.partition));
    run.progress = &progress;
    if (alone) {
        run_alone(run);
    } else {
        Scratch constants;
        if (!run.job.batches->moves_parameters) {
            const auto count = std::size_t(run.job.kernel->layout.constants);
            run.constants = reinterpret_cast<double*>(
                constants.reserve(count * sizeof(double)));
            compute_constants(run.job, progress, run.constants, *run.noted);
        }
        if (!progress.stopped())
            run_together(run, pool);
    }
    progress.rethrow();
}

} // namespace

std::size_t memory_of(const Job& job, const Partition& partition, int threads) {
    return std::size_t(threads) * Worker::bytes(job, partition) +
           WaveMemory::bytes(job, partition);
}

Noted launch(const Job& job, const Partition& partition, ThreadPool& pool,
             const Poll& poll) {
    if (partition.pieces() == 0)
        return {};
    Run::Noted noted;
    Run run{job, partition, nullptr, {}, nullptr, &noted};
    double constants = double(job.kernel->layout.constants);
    bool small =
        nanoseconds_of(job, partition) + constants * constant_nanoseconds <
        alone_nanoseconds;
    bool alone = small || partition.pieces() == 1 || pool.threads() == 1;
    if (alone && (small || !poll))
        run_alone(run);
    else
        run_watched(run, pool, poll, alone);
    return {noted.met, noted.left_out, noted.left_range};
}

} // namespace tilefold
