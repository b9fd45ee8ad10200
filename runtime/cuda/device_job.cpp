// runtime/cuda/device_job.cpp - how the columns of a call are cut.

#include "runtime/cuda/device_job.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Tasks that fill any card of today several times over.
constexpr std::int64_t wanted_tasks = 2048;
/// Tiles of a segment: states are merged that much more rarely than added to.
constexpr std::int64_t least_tiles = 8;

} // namespace

Segments segments_of(const Plan& plan, std::int64_t rows, std::int64_t runs,
                     std::int64_t columns) {
    const std::int64_t tile = plan.tile_columns;
    const std::int64_t row_blocks = ceiling(rows, plan.block_rows()) * runs;
    const std::int64_t most = ceiling(columns, tile * least_tiles);
    const std::int64_t wanted =
        ceiling(wanted_tasks, std::max<std::int64_t>(row_blocks, 1));
    Segments segments;
    segments.count =
        std::clamp<std::int64_t>(std::min(wanted, most), 1, merge_group);
    segments.columns = std::max<std::int64_t>(
                           1, ceiling(ceiling(columns, tile), segments.count)) *
                       tile;
    return segments;
}

std::int64_t parts_of(const Image& image, std::int64_t width) {
    return image.shape.is_open ? ceiling(width, image.plan.width_block) : 1;
}

} // namespace tilefold::cuda
