// runtime/cuda/device_job.cpp - how the columns of a call are cut.

#include "runtime/cuda/device_job.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Tasks that fill any card of today several times over, and once.
constexpr std::int64_t wanted_tasks = 2048, needed_tasks = 1024;
/// Tiles of a segment, where there is work enough: states are merged that much
/// more rarely than added to.
constexpr std::int64_t least_tiles = 8;
/// Of rows, each of which has as many states; of few rows.
constexpr std::int64_t most_segments = 64;

std::int64_t segment_count(const Plan& plan, std::int64_t row_blocks,
                           std::int64_t tiles) {
    const auto filling = [&](std::int64_t tasks) {
        return ceiling(tasks, std::max<std::int64_t>(row_blocks, 1));
    };
    if (plan.lanes == Lanes::Columns)
        return std::clamp<std::int64_t>(std::min(filling(needed_tasks), tiles),
                                        1, most_merged);
    const std::int64_t long_ones =
        std::min(filling(wanted_tasks), ceiling(tiles, least_tiles));
    const std::int64_t short_ones = std::min(filling(needed_tasks), tiles);
    return std::clamp<std::int64_t>(std::max(long_ones, short_ones), 1,
                                    most_segments);
}

} // namespace

Segments segments_of(const Plan& plan, std::int64_t rows, std::int64_t runs,
                     std::int64_t columns) {
    const std::int64_t tile = plan.tile_columns;
    const std::int64_t tiles = ceiling(columns, tile);
    Segments segments;
    segments.count =
        segment_count(plan, ceiling(rows, plan.block_rows()) * runs, tiles);
    segments.columns =
        std::max<std::int64_t>(1, ceiling(tiles, segments.count)) * tile;
    return segments;
}

std::int64_t parts_of(const Image& image, std::int64_t width) {
    return image.shape.is_open ? ceiling(width, image.plan.width_block) : 1;
}

} // namespace tilefold::cuda
