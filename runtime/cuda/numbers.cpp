// runtime/cuda/numbers.cpp - puts a call's numbers one after the other.

#include "runtime/cuda/numbers.h"

namespace tilefold::cuda {

Numbers::Numbers(const Job& job, const ChosenTiles& tiles) {
    append(job.literals.data(), job.literals.size_bytes());
    for (const DeviceOperand& operand : job.operands)
        parameters_.push_back(
            append(operand.data - operand.host_before, operand.host_bytes) +
            std::size_t(operand.host_before));
    rows_ = append_list(job.row_list);
    columns_ = append_list(job.column_list);
    row_tiles_ = append(tiles.rows.data(), tiles.rows.size() * sizeof(RowTile));
    intervals_ = append(tiles.intervals.data(),
                        tiles.intervals.size() * sizeof(ColumnInterval));
}

std::size_t Numbers::append(const void* from, std::size_t size) {
    const std::size_t place = bytes_.size();
    const auto* data = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), data, data + size);
    bytes_.resize(padded(bytes_.size()));
    return place;
}

} // namespace tilefold::cuda
