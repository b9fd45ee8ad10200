// runtime/cuda/host_arrays.h - which parts of the host's arrays a piece of a
// call reads and writes, and where they lie on a device.
#pragma once

#include "runtime/core/dense_copy.h"
#include "runtime/cuda/cut.h"
#include "runtime/cuda/host_call.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilefold::cuda {

/// Arrays that are brought together, one after the other in one memory.
struct InFlight {
    struct Array {
        std::size_t operand;
        DenseCopy copy;
        const char* from;   ///< element 0 of the part
        std::size_t place;  ///< in the memory
        std::int64_t first; ///< point of the part
    };
    std::vector<Array> arrays;
    std::size_t bytes = 0;
};

/// A call, by its pieces.
class HostArrays {
public:
    HostArrays(const HostCall& call, const Image& image, int devices);

    const Cut& cut() const { return cut_; }
    const tilefold::Job& job() const { return call_.job; }
    WorkItem piece(std::int64_t number) const {
        return piece_of(needs_, cut_, number);
    }
    /// What is sent of the rows of a piece, of some columns, and of arrays that
    /// are read as both.
    InFlight rows(const WorkItem& piece) const;
    InFlight columns(const WorkItem& piece, Interval columns) const;
    InFlight both(const WorkItem& piece) const;
    /// Sets where operands are that were brought to `memory`.
    void place(const InFlight& brought, char* memory,
               std::vector<DeviceOperand>& operands) const;
    /// Operands of a piece: parameters; others are placed.
    std::vector<DeviceOperand> parameters(const WorkItem& piece) const;

    /// Results of a piece: their dense copy, and element 0 of it in `out`.
    DenseCopy results(const WorkItem& piece) const;
    char* out(const WorkItem& piece) const;

    /// Job of a piece, but for operands and `out`, whose strides are those of
    /// `results`.
    void describe(const WorkItem& piece, const DenseCopy& results,
                  Job& job) const;

private:
    enum class Site : std::uint8_t { None, Row, Column, Both };

    Site site_of(std::size_t operand) const;
    std::int64_t width_of(std::int32_t rows) const;
    std::int64_t batch_stride(std::size_t dimension, std::size_t operand) const;
    std::int64_t batch_offset(const WorkItem& piece, std::size_t operand) const;
    std::int64_t batch_extent(const WorkItem& piece,
                              std::size_t dimension) const;
    std::int64_t points(std::int64_t count, const std::int64_t* list) const;
    Needs needs(const Image& image) const;
    InFlight brought(const WorkItem& piece, Site site, Interval points) const;
    double bytes_of_point(std::size_t operand) const;

    const HostCall& call_;
    Needs needs_;
    std::int64_t parts_;
    Cut cut_;
};

} // namespace tilefold::cuda
