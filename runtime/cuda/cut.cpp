// runtime/cuda/cut.cpp - batches are kept together as far as they fit, then
// columns, then rows.

#include "runtime/cuda/cut.h"

#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Two pieces are on a device at a time: one computed, one on its way.
constexpr double at_a_time = 2;
/// Pieces for each device, so that it computes one while another one comes.
constexpr std::int64_t pieces_of_device = 4;
/// Pieces of rows that are folded, whatever devices there are: their states
/// are merged in the order of the pieces.
constexpr std::int64_t folded_pieces = 16;
/// Blocks of rows that occupy any card of today.
constexpr std::int64_t least_blocks = 256;
/// The bytes from which batches are worth a piece of their own.
constexpr double least_bytes = 1 << 20;

std::int64_t count_of(const Extents& extents, std::size_t first = 0) {
    std::int64_t product = 1;
    for (std::size_t d = first; d < extents.size(); ++d)
        product *= extents[d];
    return product;
}

class Cutter {
public:
    Cutter(const Needs& needs, const Plan& plan, std::int64_t runs,
           std::int64_t budget, int devices)
        : needs_(needs), plan_(plan), share_(double(budget) / at_a_time),
          devices_(devices) {
        cut_.rows = std::max<std::int64_t>(needs.rows, 1);
        cut_.columns = std::max<std::int64_t>(needs.columns, 1);
        if (needs.state_bytes > 0)
            cut_.segments = segments_of(plan, needs.rows, runs, needs.columns);
    }

    Cut made() {
        if (!cut_batches()) {
            if (needs_.is_whole)
                too_large(batch_bytes());
            cut_columns();
            cut_rows();
        }
        return cut_;
    }

private:
    double row_bytes() const {
        return needs_.row_bytes +
               needs_.state_bytes * double(cut_.segments.count);
    }
    double batch_bytes() const {
        return double(needs_.rows) * row_bytes() +
               double(needs_.columns) * needs_.column_bytes +
               needs_.fixed_bytes;
    }

    bool cut_batches();
    void cut_columns();
    void cut_rows();
    [[noreturn]] void too_large(double bytes) const;

    const Needs& needs_;
    const Plan& plan_;
    double share_;
    int devices_;
    Cut cut_;
};

/// Whether pieces are whole batches: some of the first dimension of which one
/// index fits. Kernels know a few dimensions.
bool Cutter::cut_batches() {
    const Extents& extents = needs_.batches;
    const std::size_t known = most_batch_dimensions;
    const std::size_t first = extents.size() - std::min(extents.size(), known);
    for (std::size_t d = first; d < extents.size(); ++d) {
        cut_.batch_pieces = count_of(extents) / count_of(extents, d);
        const double bytes = double(count_of(extents, d + 1)) * batch_bytes();
        if (bytes > share_)
            continue;
        const auto batches_of = [&](double most) {
            const double count = most / std::max(bytes, 1.0);
            return std::int64_t(std::clamp(count, 1.0, double(extents[d])));
        };
        const std::int64_t fit = batches_of(share_);
        const std::int64_t wanted =
            std::max(ceil_div(extents[d], pieces_of_device * devices_),
                     batches_of(least_bytes));
        cut_.outer = d;
        cut_.batches = needs_.is_whole ? fit : std::min(fit, wanted);
        cut_.batch_pieces *= ceil_div(extents[d], cut_.batches);
        return !needs_.is_whole || cut_.batch_pieces == 1;
    }
    cut_.outer = extents.size();
    cut_.batch_pieces = count_of(extents);
    return needs_.is_whole && extents.empty() && batch_bytes() <= share_;
}

/// Takes as many segments as fit at a time; where not even one does, shorter
/// ones.
void Cutter::cut_columns() {
    const double share = share_ - needs_.fixed_bytes;
    const double bytes = needs_.column_bytes * double(needs_.columns);
    if (bytes <= share || needs_.column_bytes == 0 || needs_.state_bytes == 0)
        return;
    const std::int64_t tile = plan_.tile_columns;
    const auto fit =
        std::int64_t(std::max(share, 0.0) / at_a_time / needs_.column_bytes) /
        tile * tile;
    if (fit == 0)
        too_large(needs_.fixed_bytes +
                  needs_.column_bytes * double(tile) * at_a_time);
    Segments& segments = cut_.segments;
    if (segments.columns > fit)
        segments = {ceil_div(needs_.columns, fit), fit};
    cut_.columns = fit / segments.columns * segments.columns;
}

void Cutter::cut_rows() {
    const std::int64_t block = plan_.block_rows();
    const double columns = double(std::min(cut_.columns, needs_.columns));
    const double copies = columns < double(needs_.columns) ? at_a_time : 1;
    const double resident =
        copies * columns * needs_.column_bytes + needs_.fixed_bytes;
    const double left = at_a_time * share_ - resident;
    const double bytes = std::max(row_bytes() * at_a_time, 1.0);
    if (bytes > left)
        too_large((bytes + resident) / at_a_time);
    auto fit = std::int64_t(std::min(left / bytes, double(needs_.rows)));
    if (fit > block)
        fit = fit / block * block;
    const std::int64_t parts =
        needs_.folds_rows ? folded_pieces : pieces_of_device * devices_;
    const std::int64_t wanted =
        std::max(ceil_div(needs_.rows, parts), least_blocks * block);
    cut_.rows = std::max<std::int64_t>(
        1, std::min({ceil_div(wanted, block) * block, fit, needs_.rows}));
    cut_.row_pieces =
        ceil_div(std::max<std::int64_t>(needs_.rows, 1), cut_.rows);
}

void Cutter::too_large(double bytes) const {
    const auto spelled = [](double share) {
        constexpr double kibibyte = 1 << 10;
        return std::to_string(std::int64_t(at_a_time * share / kibibyte)) +
               " KiB";
    };
    fail(tilefold::Code::OutOfMemory,
         {needs_.is_whole ? "a call with lists of points, or ranges, whose "
                            "arrays go to a device whole,"
                          : "a piece of the call",
          spelled(bytes) + " of a device",
          "raise Options(device_bytes=), which is " + spelled(share_)});
}

} // namespace

Cut cut(const Needs& needs, const Plan& plan, std::int64_t runs,
        std::int64_t budget, int devices) {
    return Cutter(needs, plan, runs, budget, devices).made();
}

WorkItem piece_of(const Needs& needs, const Cut& cut, std::int64_t number) {
    WorkItem piece;
    piece.batch_piece = number / cut.row_pieces;
    piece.row_piece = number % cut.row_pieces;
    const std::int64_t first_row = piece.row_piece * cut.rows;
    piece.rows = {first_row, std::min(first_row + cut.rows, needs.rows)};
    std::int64_t outer = piece.batch_piece;
    piece.batches = {0, 1};
    if (cut.outer < needs.batches.size()) {
        const std::int64_t extent = needs.batches[cut.outer];
        const std::int64_t ranges = ceil_div(extent, cut.batches);
        const std::int64_t first = outer % ranges * cut.batches;
        piece.batches = {first, std::min(first + cut.batches, extent)};
        outer /= ranges;
    }
    piece.at.resize(cut.outer);
    for (std::size_t d = cut.outer; d-- > 0; outer /= needs.batches[d])
        piece.at[d] = outer % needs.batches[d];
    return piece;
}

} // namespace tilefold::cuda
