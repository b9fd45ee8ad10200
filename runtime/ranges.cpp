// runtime/ranges.cpp - brings tiles in order, and reads them from the other
// axis.

#include "runtime/ranges.h"

#include "formulas/diagnostic.h"

#include <algorithm>
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

/// The columns fall apart where any range begins or ends; a piece between
/// meets the rows of the tiles that are open there.
TileList by_columns(const TileList& list) {
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
    std::vector<std::size_t> open; // ascending
    for (std::size_t k = 0; k < edges.size(); ++k) {
        const Edge& edge = edges[k];
        const auto place = std::ranges::lower_bound(open, edge.tile);
        if (edge.opens)
            open.insert(place, edge.tile);
        else
            open.erase(place);
        if (k + 1 == edges.size() || edges[k + 1].at == edge.at || open.empty())
            continue;
        std::vector<Interval> rows;
        for (std::size_t tile : open)
            rows.push_back(list.rows[tile]);
        add_tile(result, {edge.at, edges[k + 1].at}, in_order(rows));
    }
    return result;
}

void check_length(const std::vector<TileList>& lists, std::int64_t length,
                  const char* axis) {
    for (const TileList& list : lists)
        if (!list.rows.empty() && list.rows.back().last > length)
            fail(Code::RangesOverrun,
                 {axis, std::to_string(list.rows.back().last),
                  std::to_string(length)});
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
        by_columns_.push_back(by_columns(by_rows_.back()));
    }
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
    exchanged.by_rows_ = by_columns_;
    exchanged.by_columns_ = by_rows_;
    return exchanged;
}

void Ranges::check_lengths(std::int64_t i, std::int64_t j) const {
    check_length(by_rows_, i, "i");
    check_length(by_columns_, j, "j");
}

} // namespace tilefold
