// runtime/cuda/device_job.h - a call as the GPU's launch code takes it, and how
// its columns are cut.
#pragma once

#include "compiler/backends/cuda/image/image.h"
#include "runtime/schedule/ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tilefold::cuda {

/// Leading dimensions over which a call is repeated, outermost first.
inline constexpr int most_batch_dimensions = 4;

/// An argument; strides in bytes, and 0 where it does not have a dimension.
struct DeviceOperand {
    const char* data = nullptr;
    std::int64_t stride = 0, component = 0, column = 0;
    std::int64_t batch[most_batch_dimensions] = {};
    /// Bytes of a parameter in the host's memory, which are copied, and those
    /// of them that lie before `data`; 0: it is on the device.
    std::size_t host_bytes = 0;
    std::int64_t host_before = 0;
};

/// Which pairs a graph without a reduction is computed at.
enum class Pairs : std::uint8_t { Pairwise, Dense };

/// Neighbouring states that the lanes of a warp make one.
inline constexpr std::int64_t most_merged = 1024;

/// How the columns of a call become states that are merged.
struct Segments {
    std::int64_t count = 1;
    std::int64_t columns = 0; ///< of each: a multiple of the tile's
};
/// A function of sizes and of the plan alone, so that results have the same
/// bits on every card. `runs`: batches, and parts of each.
Segments segments_of(const Plan& plan, std::int64_t rows, std::int64_t runs,
                     std::int64_t columns);

/// Everything pointed to outlives the queued work, but for `literals`, lists
/// and parameters of the host, which are copied before run() returns.
struct Job {
    std::span<const DeviceOperand> operands; ///< in the graph's order
    std::span<const double> literals;
    std::span<const std::int64_t> row_list; ///< of the host; no data: all
    std::span<const std::int64_t> column_list;
    std::int64_t rows = 1, columns = 1, width = 1;
    std::int64_t batch[most_batch_dimensions] = {1, 1, 1, 1};
    Pairs pairs = Pairs::Pairwise;
    /// A graph whose reductions meet chosen pairs has here the list of each
    /// batch, in the order of C, read from the rows' side. They are copied.
    std::span<const TileList* const> chosen;
    char* out = nullptr;
    std::int64_t out_row = 0, out_column = 0, out_component = 0;
    std::int64_t out_batch[most_batch_dimensions] = {};
    bool accumulate = false;
    /// A piece of a call has operands that begin where its first row, and its
    /// first column, would lie. These are the rows before it, and the segments
    /// of the call.
    std::int64_t first_row = 0;
    std::optional<Segments> segments = {};
};

/// Into how many a width is cut that a kernel was not compiled for.
std::int64_t parts_of(const Image& image, std::int64_t width);

} // namespace tilefold::cuda
