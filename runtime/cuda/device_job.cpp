// runtime/cuda/device_job.cpp - how the columns of a call are cut.

#include "runtime/cuda/device_job.h"

#include "compiler/backends/cuda/plan/plan_segments.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Tasks that fill any card of today once.
constexpr std::int64_t needed_tasks = 1024;

/// Returns how many segments few rows take, which the threads of a block share.
std::int64_t segments_of_few(std::int64_t row_blocks, std::int64_t tiles) {
    const std::int64_t filling =
        ceil_div(needed_tasks, std::max<std::int64_t>(row_blocks, 1));
    return std::clamp<std::int64_t>(std::min(filling, tiles), 1, most_merged);
}

} // namespace

Segments segments_of(const Plan& plan, std::int64_t rows, std::int64_t runs,
                     std::int64_t columns) {
    const std::int64_t tile = plan.tile_columns;
    const std::int64_t tiles = ceil_div(columns, tile);
    Segments segments;
    const std::int64_t blocks = ceil_div(rows, plan.block_rows()) * runs;
    segments.count = plan.lanes == Lanes::Columns
                         ? segments_of_few(blocks, tiles)
                         : segment_count(plan, blocks, tiles);
    segments.columns =
        std::max<std::int64_t>(1, ceil_div(tiles, segments.count)) * tile;
    return segments;
}

std::int64_t parts_of(const Image& image, std::int64_t width) {
    return image.shape.is_open ? ceil_div(width, image.plan.width_block) : 1;
}

} // namespace tilefold::cuda
