// runtime/cuda/run.h - one call on a GPU: kernels in order, on the caller's
// stream. Nothing waits for them.
#pragma once

#include "runtime/cuda/device.h"
#include "runtime/ranges.h"

#include <cstdint>
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
enum class Pairs : std::uint8_t { Zip, Dense };

/// Everything pointed to outlives the queued work, but for `literals`, lists
/// and parameters of the host, which are copied before run() returns.
struct Job {
    std::span<const DeviceOperand> operands; ///< in the graph's order
    std::span<const double> literals;
    std::span<const std::int64_t> row_list; ///< of the host; no data: all
    std::span<const std::int64_t> column_list;
    std::int64_t rows = 1, columns = 1, width = 1;
    std::int64_t batch[most_batch_dimensions] = {1, 1, 1, 1};
    Pairs pairs = Pairs::Zip;
    /// Of a graph whose reductions meet chosen pairs: the list of each batch,
    /// in the order of C, read from the rows' side. They are copied.
    std::span<const TileList* const> chosen;
    char* out = nullptr;
    std::int64_t out_row = 0, out_column = 0, out_component = 0;
    std::int64_t out_batch[most_batch_dimensions] = {};
    bool accumulate = false;
};

/// Into how many segments columns are cut: a function of sizes alone, so that
/// results have the same bits on every card.
std::int64_t segments_of(std::int64_t row_blocks, std::int64_t columns,
                         std::int64_t tile);

void run(const Module& module, const Job& job, StreamHandle stream);

} // namespace tilefold::cuda
