// runtime/schedule/ranges.cpp - brings tiles in order, and reads them from the
// other axis.

#include "runtime/schedule/ranges.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace tilefold {
namespace {

void check(Interval interval, const char* axis) {
    if (interval.first < 0 || interval.last < interval.first)
        fail(Code::RangesInterval, {axis, std::to_string(interval.first),
                                    std::to_string(interval.last)});
}

void check_apart(Interval before, Interval after, const char* axis) {
    if (after.first < before.last)
        fail(Code::RangesOverlap,
             {axis, std::to_string(before.first), std::to_string(before.last),
              std::to_string(after.first), std::to_string(after.last)});
}

/// Ascending; those that touch are one.
std::vector<Interval> in_order(std::span<const Interval> columns) {
    std::vector<Interval> sorted;
    for (Interval interval : columns) {
        check(interval, "j");
        if (interval.size() > 0)
            sorted.push_back(interval);
    }
    std::ranges::sort(sorted, {}, &Interval::first);
    std::vector<Interval> joined;
    for (Interval interval : sorted) {
        if (joined.empty() || interval.first > joined.back().last) {
            joined.push_back(interval);
            continue;
        }
        check_apart(joined.back(), interval, "j");
        joined.back().last = interval.last;
    }
    return joined;
}

void add_tile(TileList& list, Interval rows,
              std::span<const Interval> columns) {
    if (list.first.empty())
        list.first.push_back(0);
    list.rows.push_back(rows);
    list.columns.insert(list.columns.end(), columns.begin(), columns.end());
    list.first.push_back(list.columns.size());
}

TileList ordered(const TileList& list) {
    std::vector<std::size_t> order(list.rows.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::sort(order, {}, [&](std::size_t tile) {
        return std::pair(list.rows[tile].first, tile);
    });
    TileList result;
    result.first.push_back(0);
    for (std::size_t tile : order) {
        const Interval rows = list.rows[tile];
        check(rows, "i");
        const std::vector<Interval> columns = in_order(list.columns_of(tile));
        if (rows.size() == 0)
            continue;
        if (!result.rows.empty())
            check_apart(result.rows.back(), rows, "i");
        add_tile(result, rows, columns);
    }
    return result;
}

/// Rows of the tiles that are open, those that touch as one.
class OpenRows {
public:
    void open(Interval rows) {
        auto after = runs_.lower_bound(rows.first);
        if (after != runs_.end() && after->first == rows.last) {
            rows.last = after->second;
            after = runs_.erase(after);
        }
        if (after != runs_.begin())
            if (const auto before = std::prev(after);
                before->second == rows.first) {
                before->second = rows.last;
                return;
            }
        runs_.emplace(rows.first, rows.last);
    }
    void close(Interval rows) {
        const auto run = std::prev(runs_.upper_bound(rows.first));
        const Interval whole{run->first, run->second};
        runs_.erase(run);
        if (whole.first < rows.first)
            runs_.emplace(whole.first, rows.first);
        if (rows.last < whole.last)
            runs_.emplace(rows.last, whole.last);
    }
    std::vector<Interval> runs() const {
        std::vector<Interval> all;
        for (const auto& [first, last] : runs_)
            all.push_back({first, last});
        return all;
    }
    std::size_t size() const { return runs_.size(); }

private:
    std::map<std::int64_t, std::int64_t> runs_; ///< first to last
};

/// Intervals of all lists: half a gigabyte, made in half a second.
constexpr std::size_t most_pieces = std::size_t(1) << 25;

/// The columns fall apart where any range begins or ends; a piece between
/// meets the rows of the tiles that are open there. `made`: intervals of the
/// lists so far.
TileList by_columns_of(const TileList& list, std::size_t& made) {
    struct Edge {
        std::int64_t at;
        bool opens;
        std::size_t tile;
    };
    std::vector<Edge> edges;
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile)
        for (Interval columns : list.columns_of(tile)) {
            edges.push_back({columns.first, true, tile});
            edges.push_back({columns.last, false, tile});
        }
    std::ranges::sort(edges, {}, &Edge::at);
    TileList result;
    result.first.push_back(0);
    OpenRows open;
    for (std::size_t k = 0; k < edges.size(); ++k) {
        const Edge& edge = edges[k];
        if (edge.opens)
            open.open(list.rows[edge.tile]);
        else
            open.close(list.rows[edge.tile]);
        if (k + 1 == edges.size() || edges[k + 1].at == edge.at ||
            open.size() == 0)
            continue;
        made += open.size();
        if (made > most_pieces)
            fail(Code::RangesPieces, {std::to_string(most_pieces)});
        add_tile(result, {edge.at, edges[k + 1].at}, open.runs());
    }
    return result;
}

std::int64_t last_row(const TileList& list) {
    return list.rows.empty() ? 0 : list.rows.back().last;
}

std::int64_t last_column(const TileList& list) {
    std::int64_t last = 0;
    for (const Interval columns : list.columns)
        last = std::max(last, columns.last);
    return last;
}

void check_length(std::int64_t needed, std::int64_t length, const char* axis) {
    if (needed > length)
        fail(Code::RangesOverrun,
             {axis, std::to_string(needed), std::to_string(length)});
}

/// What lies in `part`, by its own numbers; of no points where they are apart.
Interval cut(Interval interval, Interval part) {
    const std::int64_t first = std::max(interval.first, part.first);
    const std::int64_t last = std::min(interval.last, part.last);
    return {first - part.first, std::max(first, last) - part.first};
}

TileList part_of(const TileList& list, Interval rows, Interval columns) {
    TileList result;
    result.first.push_back(0);
    std::vector<Interval> met;
    for (std::size_t tile = 0; tile < list.rows.size(); ++tile) {
        const Interval own = cut(list.rows[tile], rows);
        if (own.size() == 0)
            continue;
        met.clear();
        for (const Interval interval : list.columns_of(tile))
            if (const Interval left = cut(interval, columns); left.size() > 0)
                met.push_back(left);
        add_tile(result, own, met);
    }
    return result;
}

} // namespace

double TileList::pairs() const {
    double count = 0;
    for (std::size_t tile = 0; tile < rows.size(); ++tile)
        for (Interval interval : columns_of(tile))
            count += double(rows[tile].size()) * double(interval.size());
    return count;
}

Ranges::Ranges(Extents batch, std::vector<TileList> lists)
    : batch_(std::move(batch)) {
    for (const TileList& list : lists) {
        by_rows_.push_back(ordered(list));
        rows_ = std::max(rows_, last_row(by_rows_.back()));
        columns_ = std::max(columns_, last_column(by_rows_.back()));
    }
}

const std::vector<TileList>& Ranges::by_columns() const {
    std::call_once(by_columns_->made, [this] {
        std::vector<TileList> lists;
        std::size_t pieces = 0;
        for (const TileList& list : by_rows_)
            lists.push_back(by_columns_of(list, pieces));
        by_columns_->lists = std::move(lists);
    });
    return by_columns_->lists;
}

double Ranges::pairs() const {
    double count = 0;
    for (const TileList& list : by_rows_)
        count += list.pairs();
    return count;
}

Ranges Ranges::transposed() const {
    Ranges exchanged;
    exchanged.batch_ = batch_;
    exchanged.by_rows_ = by_columns();
    exchanged.rows_ = columns_;
    exchanged.columns_ = rows_;
    std::call_once(exchanged.by_columns_->made,
                   [&] { exchanged.by_columns_->lists = by_rows_; });
    return exchanged;
}

Ranges Ranges::part(Interval i, Interval j) const {
    std::vector<TileList> lists;
    for (const TileList& list : by_rows_)
        lists.push_back(part_of(list, i, j));
    return {batch_, std::move(lists)};
}

void Ranges::check_lengths(std::int64_t i, std::int64_t j) const {
    check_length(rows_, i, "i");
    check_length(columns_, j, "j");
}

} // namespace tilefold
