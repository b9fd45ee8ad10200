// runtime/cuda/row_tiles.cpp - cuts tiles of rows into tasks.

#include "runtime/cuda/row_tiles.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// The rows [first, last), which meet the intervals [from, to).
struct Span {
    std::int64_t batch, first, last, from, to;
};

void add_rows(ChosenTiles& tiles, const Span& span, std::int64_t block_rows) {
    for (std::int64_t first = span.first; first < span.last;
         first += block_rows)
        tiles.rows.push_back({span.batch, first,
                              std::min(first + block_rows, span.last),
                              span.from, span.to});
}

} // namespace

ChosenTiles chosen_tiles(std::span<const TileList* const> lists,
                         std::int64_t rows, std::int64_t block_rows) {
    ChosenTiles tiles;
    for (std::size_t batch = 0; batch < lists.size(); ++batch) {
        const TileList& list = *lists[batch];
        std::int64_t done = 0;
        const auto number = std::int64_t(batch);
        for (std::size_t tile = 0; tile < list.rows.size(); ++tile) {
            const Interval of = list.rows[tile];
            add_rows(tiles, {number, done, of.first, 0, 0}, block_rows);
            const auto from = std::int64_t(tiles.intervals.size());
            for (Interval columns : list.columns_of(tile))
                tiles.intervals.push_back({columns.first, columns.last});
            const auto to = std::int64_t(tiles.intervals.size());
            add_rows(tiles, {number, of.first, of.last, from, to}, block_rows);
            done = of.last;
        }
        add_rows(tiles, {number, done, rows, 0, 0}, block_rows);
    }
    return tiles;
}

} // namespace tilefold::cuda
