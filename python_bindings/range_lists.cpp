// python_bindings/range_lists.cpp - see range_lists.h.
#include "python_bindings/range_lists.h"

#include "formulas/diagnostic.h"

#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

using NumberList = std::span<const std::int64_t>;

Interval interval_at(NumberList numbers, std::size_t k) {
    return {numbers[2 * k], numbers[2 * k + 1]};
}

/// What the numbers of one list count; an InternalError where it is not what
/// the next one holds.
void check_counts(NumberList counts, std::size_t all) {
    for (const std::int64_t count : counts) {
        if (count < 0 || std::uint64_t(count) > all)
            internal_error("lists of ranges that do not fit");
        all -= std::size_t(count);
    }
    if (all != 0)
        internal_error("lists of ranges that do not fit");
}

} // namespace

std::shared_ptr<const Ranges> ranges_of(Extents batch,
                                        const RangeLists& lists) {
    const auto& [tiles, rows, counts, columns] = lists;
    check_counts(tiles, rows.size() / 2);
    check_counts(tiles, counts.size());
    check_counts(counts, columns.size() / 2);
    std::vector<TileList> all;
    std::size_t tile = 0, range = 0;
    for (const std::int64_t count : tiles) {
        TileList list;
        list.first.push_back(0);
        for (std::int64_t k = 0; k < count; ++k, ++tile) {
            list.rows.push_back(interval_at(rows, tile));
            for (std::int64_t n = 0; n < counts[tile]; ++n)
                list.columns.push_back(interval_at(columns, range++));
            list.first.push_back(list.columns.size());
        }
        all.push_back(std::move(list));
    }
    return std::make_shared<const Ranges>(std::move(batch), std::move(all));
}

} // namespace tilefold::python
