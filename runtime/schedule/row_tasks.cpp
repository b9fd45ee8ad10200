// runtime/schedule/row_tasks.cpp - tiles to tasks, tasks to pieces of like
// cost.

#include "runtime/schedule/row_tasks.h"

#include <algorithm>

namespace tilefold {
namespace {

/// Pieces may be of unlike cost; more than these share the work no better.
constexpr double pieces_of_all = 1024;

void add_rows(std::vector<RowTask>& tasks, std::int64_t batch, Interval rows,
              std::span<const Interval> columns, std::int64_t block) {
    for (std::int64_t at = rows.first; at < rows.last;) {
        const std::int64_t end = at + std::min(block, rows.last - at);
        tasks.push_back({batch, {at, end}, columns});
        at = end;
    }
}

void add_batch(std::vector<RowTask>& tasks, const Job& job, std::int64_t batch,
               std::int64_t block) {
    const TileList& list = job.chosen->list(batch);
    const bool folds = job.loop == LoopKind::FoldRows;
    std::int64_t at = 0;
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile) {
        if (!folds)
            add_rows(tasks, batch, {at, list.rows[tile].first}, {}, block);
        add_rows(tasks, batch, list.rows[tile], list.columns_of(tile), block);
        at = list.rows[tile].last;
    }
    if (!folds)
        add_rows(tasks, batch, {at, job.rows}, {}, block);
}

double nanoseconds(const Job& job, const RowTask& task) {
    return Job::call_nanoseconds +
           task.pairs() * job.kernel->nanoseconds(job.width);
}

/// Cuts tasks [begin, end) into pieces of at least `least` nanoseconds, at
/// most `most` of them.
void add_pieces(RowTasks& tasks, const Job& job, std::size_t begin,
                std::size_t end, double least, std::size_t most) {
    double cost = 0;
    std::size_t made = 0;
    for (std::size_t k = begin; k < end; ++k) {
        cost += nanoseconds(job, tasks.all[k]);
        if (cost < least || made + 1 == most)
            continue;
        tasks.first.push_back(k + 1);
        cost = 0;
        ++made;
    }
    if (tasks.first.back() != end || made == 0)
        tasks.first.push_back(end);
}

void cut_pieces(RowTasks& tasks, const Job& job, double total) {
    add_pieces(tasks, job, 0, tasks.all.size(),
               std::max(Job::piece_nanoseconds, total / pieces_of_all),
               tasks.all.size() + 1);
}

/// The same number of pieces for every batch.
void cut_folded(RowTasks& tasks, const Job& job, double total,
                std::int64_t batches) {
    const double of_batch = total / double(std::max<std::int64_t>(batches, 1));
    const auto pieces = std::size_t(std::clamp(
        of_batch / Job::piece_nanoseconds, 1.0, double(Job::most_pieces)));
    std::size_t at = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const std::size_t begin = at, made = tasks.first.size();
        while (at < tasks.all.size() && tasks.all[at].batch == batch)
            ++at;
        add_pieces(tasks, job, begin, at, of_batch / double(pieces), pieces);
        tasks.first.resize(made + pieces, at);
    }
}

} // namespace

double RowTask::pairs() const {
    double count = 0;
    for (Interval interval : columns)
        count += double(interval.size());
    return count * double(rows.size());
}

RowTasks cut_row_tasks(const Job& job, std::int64_t batches,
                       std::int64_t block) {
    RowTasks tasks;
    tasks.first.push_back(0);
    for (std::int64_t batch = 0; batch < batches; ++batch)
        add_batch(tasks.all, job, batch, block);
    double total = 0;
    for (const RowTask& task : tasks.all) {
        tasks.pairs += task.pairs();
        total += nanoseconds(job, task);
    }
    if (job.loop == LoopKind::FoldRows)
        cut_folded(tasks, job, total, batches);
    else
        cut_pieces(tasks, job, total);
    return tasks;
}

} // namespace tilefold
