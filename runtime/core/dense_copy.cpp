// runtime/core/dense_copy.cpp - sorts and joins axes; copies runs of bytes.

#include "runtime/core/dense_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace tilefold {

DenseCopy::DenseCopy(std::span<const CopiedAxis> axes, std::size_t element)
    : strides_(axes.size(), 0), element_(element) {
    std::vector<std::size_t> order;
    bool is_empty = false;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        is_empty |= axes[k].extent == 0;
        if (axes[k].extent > 1 && axes[k].stride != 0)
            order.push_back(k);
    }
    std::ranges::sort(order, {}, [&](std::size_t k) {
        return std::pair(-std::abs(axes[k].stride), k);
    });
    auto copied = std::int64_t(element);
    for (std::size_t k = order.size(); k-- > 0;) {
        const CopiedAxis& axis = axes[order[k]];
        strides_[order[k]] = copied;
        const bool joins =
            !axes_.empty() &&
            axis.stride == axes_.back().stride * axes_.back().extent;
        if (joins)
            axes_.back().extent *= axis.extent;
        else
            axes_.push_back({axis.extent, axis.stride, copied});
        copied *= axis.extent;
    }
    std::ranges::reverse(axes_);
    bytes_ = is_empty ? 0 : std::size_t(copied);
}

std::size_t DenseCopy::bytes_from(std::size_t depth) const {
    return depth < axes_.size()
               ? std::size_t(axes_[depth].extent * axes_[depth].copied)
               : element_;
}

/// run(in array, in copy, elements, stride) for the innermost axis below the
/// first `extent` elements of axis `depth`.
template <class Run>
void DenseCopy::each_run(std::size_t depth, std::int64_t extent,
                         std::int64_t in_array, std::int64_t in_copy,
                         const Run& run) const {
    if (depth >= axes_.size())
        return run(in_array, in_copy, 1, std::int64_t(element_));
    const Axis& axis = axes_[depth];
    if (depth + 1 == axes_.size())
        return run(in_array, in_copy, extent, axis.stride);
    for (std::int64_t k = 0; k < extent; ++k)
        each_run(depth + 1, axes_[depth + 1].extent, in_array + k * axis.stride,
                 in_copy + k * axis.copied, run);
}

namespace {

/// `count` elements, the first of both at the pointers.
template <class T>
void copy_elements(char* to, std::int64_t to_stride, const char* from,
                   std::int64_t from_stride, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k)
        std::memcpy(to + k * to_stride, from + k * from_stride, sizeof(T));
}

void copy_run(char* to, std::int64_t to_stride, const char* from,
              std::int64_t from_stride, std::int64_t count,
              std::size_t element) {
    const auto dense = std::int64_t(element);
    if (to_stride == dense && from_stride == dense) {
        std::memcpy(to, from, std::size_t(count) * element);
        return;
    }
    switch (element) {
    case 1:
        return copy_elements<char>(to, to_stride, from, from_stride, count);
    case 2:
        return copy_elements<short>(to, to_stride, from, from_stride, count);
    case 4:
        return copy_elements<int>(to, to_stride, from, from_stride, count);
    default:
        return copy_elements<double>(to, to_stride, from, from_stride, count);
    }
}

} // namespace

void DenseCopy::Slice::pack(const char* array, char* copy) const {
    of.each_run(depth, extent, in_array, 0,
                [&](std::int64_t from, std::int64_t to, std::int64_t count,
                    std::int64_t stride) {
                    copy_run(copy + to, std::int64_t(of.element_), array + from,
                             stride, count, of.element_);
                });
}

void DenseCopy::Slice::unpack(const char* copy, char* array) const {
    of.each_run(depth, extent, in_array, 0,
                [&](std::int64_t to, std::int64_t from, std::int64_t count,
                    std::int64_t stride) {
                    copy_run(array + to, stride, copy + from,
                             std::int64_t(of.element_), count, of.element_);
                });
}

void DenseCopy::slices(std::size_t depth, std::int64_t in_array,
                       std::int64_t in_copy, std::size_t most,
                       const std::function<void(const Slice&)>& visit) const {
    if (depth >= axes_.size()) {
        visit({*this, in_array, in_copy, element_, depth, 1});
        return;
    }
    const Axis& axis = axes_[depth];
    const std::size_t below = bytes_from(depth + 1);
    const auto at_a_time = std::int64_t(most / below);
    if (at_a_time == 0) {
        for (std::int64_t k = 0; k < axis.extent; ++k)
            slices(depth + 1, in_array + k * axis.stride,
                   in_copy + k * axis.copied, most, visit);
        return;
    }
    for (std::int64_t k = 0; k < axis.extent; k += at_a_time) {
        const std::int64_t count = std::min(at_a_time, axis.extent - k);
        visit({*this, in_array + k * axis.stride, in_copy + k * axis.copied,
               std::size_t(count) * below, depth, count});
    }
}

void DenseCopy::each_slice(
    std::size_t most, const std::function<void(const Slice&)>& visit) const {
    if (bytes_ > 0)
        slices(0, 0, 0, most, visit);
}

} // namespace tilefold
