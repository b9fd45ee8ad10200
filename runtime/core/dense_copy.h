// runtime/core/dense_copy.h - a strided array as a dense one, whose axes lie in
// the order that they have in memory, so that a copy reads long runs of bytes.
#pragma once

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace tilefold {

/// Strides in bytes; any sign, and 0 for elements that are there once.
struct CopiedAxis {
    std::int64_t extent = 1, stride = 0;
};

/// The dense copy of an array: where its elements lie there.
class DenseCopy {
public:
    /// `element`: bytes of one.
    DenseCopy(std::span<const CopiedAxis> axes, std::size_t element);

    std::size_t bytes() const { return bytes_; }
    /// The stride in the copy of an axis as it was given: 0 where it is 0 in
    /// the array.
    std::int64_t stride(std::size_t axis) const { return strides_[axis]; }

    /// A part of both, for as many bytes as a copy of it takes.
    struct Slice {
        const DenseCopy& of;
        std::int64_t in_array, in_copy; ///< bytes before it
        std::size_t bytes;
        std::size_t depth;   ///< axes of which it has one element
        std::int64_t extent; ///< of the next one
        /// `array`: element 0 of the array. Copies are what begins with this
        /// slice.
        void pack(const char* array, char* copy) const;
        void unpack(const char* copy, char* array) const;
    };
    /// All of it in slices of at most `most` bytes, in the copy's order; one
    /// element at least.
    void each_slice(std::size_t most,
                    const std::function<void(const Slice&)>& visit) const;

private:
    struct Axis {
        std::int64_t extent, stride, copied; ///< by falling stride
    };
    template <class Run>
    void each_run(std::size_t depth, std::int64_t extent, std::int64_t in_array,
                  std::int64_t in_copy, const Run& run) const;
    void slices(std::size_t depth, std::int64_t in_array, std::int64_t in_copy,
                std::size_t most,
                const std::function<void(const Slice&)>& visit) const;
    std::size_t bytes_from(std::size_t depth) const;

    boost::container::small_vector<Axis, 6> axes_;
    boost::container::small_vector<std::int64_t, 6> strides_;
    std::size_t element_, bytes_;
};

} // namespace tilefold
