// runtime/schedule/row_tasks.cpp - tiles to strips, strips to pieces of like
// cost.

#include "runtime/schedule/row_tasks.h"

#include <algorithm>

namespace tilefold {
namespace {

/// Of unlike cost; more share the work no better.
constexpr double most_pieces = 1024;

void add_rows(std::vector<RowTask>& strips, std::int64_t batch, Interval rows,
              std::span<const Interval> columns, std::int64_t block) {
    for (std::int64_t at = rows.first; at < rows.last;) {
        const std::int64_t end = at + std::min(block, rows.last - at);
        strips.push_back({batch, {at, end}, columns});
        at = end;
    }
}

void add_batch(std::vector<RowTask>& strips, const Job& job, std::int64_t batch,
               std::int64_t block) {
    const TileList& list = job.chosen->list(batch);
    const bool folds = job.work == Work::FoldRows;
    std::int64_t at = 0;
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile) {
        if (!folds)
            add_rows(strips, batch, {at, list.rows[tile].first}, {}, block);
        add_rows(strips, batch, list.rows[tile], list.columns_of(tile), block);
        at = list.rows[tile].last;
    }
    if (!folds)
        add_rows(strips, batch, {at, job.rows}, {}, block);
}

double nanoseconds(const Job& job, const RowTask& strip) {
    return Job::call_nanoseconds +
           strip.pairs() * job.kernel->nanoseconds(job.width);
}

/// Cuts strips [begin, end) into pieces of at least `least` nanoseconds, at
/// most `most` of them.
void add_pieces(RowTasks& strips, const Job& job, std::size_t begin,
                std::size_t end, double least, std::size_t most) {
    double cost = 0;
    std::size_t made = 0;
    for (std::size_t k = begin; k < end; ++k) {
        cost += nanoseconds(job, strips.all[k]);
        if (cost < least || made + 1 == most)
            continue;
        strips.first.push_back(k + 1);
        cost = 0;
        ++made;
    }
    if (strips.first.back() != end || made == 0)
        strips.first.push_back(end);
}

void cut_pieces(RowTasks& strips, const Job& job, double total) {
    add_pieces(strips, job, 0, strips.all.size(),
               std::max(Job::piece_nanoseconds, total / most_pieces),
               strips.all.size() + 1);
}

/// The same number of pieces for every batch.
void cut_folded(RowTasks& strips, const Job& job, double total,
                std::int64_t batches) {
    const double of_batch = total / double(std::max<std::int64_t>(batches, 1));
    const auto pieces = std::size_t(std::clamp(
        of_batch / Job::piece_nanoseconds, 1.0, double(Job::most_pieces)));
    std::size_t at = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const std::size_t begin = at, made = strips.first.size();
        while (at < strips.all.size() && strips.all[at].batch == batch)
            ++at;
        add_pieces(strips, job, begin, at, of_batch / double(pieces), pieces);
        strips.first.resize(made + pieces, at);
    }
}

} // namespace

double RowTask::pairs() const {
    double count = 0;
    for (Interval interval : columns)
        count += double(interval.size());
    return count * double(rows.size());
}

RowTasks cut_strips(const Job& job, std::int64_t batches, std::int64_t block) {
    RowTasks strips;
    strips.first.push_back(0);
    for (std::int64_t batch = 0; batch < batches; ++batch)
        add_batch(strips.all, job, batch, block);
    double total = 0;
    for (const RowTask& strip : strips.all) {
        strips.pairs += strip.pairs();
        total += nanoseconds(job, strip);
    }
    if (job.work == Work::FoldRows)
        cut_folded(strips, job, total, batches);
    else
        cut_pieces(strips, job, total);
    return strips;
}

} // namespace tilefold
