// runtime/cuda/numbers.h - the numbers of a call that are copied to the device,
// and where what it needs there lies.
#pragma once

#include "runtime/cuda/device_job.h"
#include "runtime/cuda/row_tiles.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilefold::cuda {

inline std::size_t padded(std::size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/// What lies one after the other in one piece of the device's memory.
class MemoryLayout {
public:
    std::size_t take(std::size_t bytes) {
        const std::size_t offset = size_;
        size_ += padded(bytes);
        return offset;
    }
    std::size_t size() const { return size_; }

private:
    std::size_t size_ = 0;
};

/// Literals, lists and the host's parameters, as they are copied.
class Numbers {
public:
    Numbers(const Job& job, const ChosenTiles& tiles);

    const std::vector<char>& bytes() const { return bytes_; }
    /// The place of an operand's element 0.
    std::size_t parameter(std::size_t number) const {
        return parameters_[number];
    }
    const long long* rows(const char* start) const {
        return list(start, rows_);
    }
    const long long* columns(const char* start) const {
        return list(start, columns_);
    }

    const RowTile* row_tiles(const char* start) const {
        return reinterpret_cast<const RowTile*>(start + row_tiles_);
    }
    const ColumnInterval* intervals(const char* start) const {
        return reinterpret_cast<const ColumnInterval*>(start + intervals_);
    }

private:
    static constexpr std::size_t no_list = ~std::size_t(0);

    std::size_t append(const void* from, std::size_t size);
    std::size_t append_list(std::span<const std::int64_t> list) {
        return list.data() ? append(list.data(), list.size_bytes()) : no_list;
    }
    static const long long* list(const char* start, std::size_t place) {
        return place == no_list
                   ? nullptr
                   : reinterpret_cast<const long long*>(start + place);
    }

    std::vector<char> bytes_;
    std::vector<std::size_t> parameters_;
    std::size_t rows_ = no_list, columns_ = no_list;
    std::size_t row_tiles_ = 0, intervals_ = 0;
};

} // namespace tilefold::cuda
