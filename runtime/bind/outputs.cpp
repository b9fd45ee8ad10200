// runtime/bind/outputs.cpp - checks of `out`, and where a kernel's results go.

#include "runtime/bind/outputs.h"

#include "formulas/diagnostic.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace tilefold {
namespace {

/// Whether two elements may lie in one place: along some axis a step is
/// shorter than what the axes of smaller steps reach over.
bool overlaps_itself(const Output& out) {
    using Axis = std::pair<std::int64_t, std::int64_t>; // step, extent
    boost::container::small_vector<Axis, 8> axes;
    for (std::size_t d = 0; d < out.shape.size(); ++d)
        if (out.shape[d] > 1)
            axes.emplace_back(std::abs(out.strides[d]), out.shape[d]);
    std::ranges::sort(axes);
    auto reach = std::int64_t(size_of(out.dtype));
    for (const auto& [step, extent] : axes) {
        if (step < reach)
            return true;
        reach += step * (extent - 1);
    }
    return false;
}

void check_overlap(const InputArrays& inputs, const Output& out) {
    if (std::ranges::count(out.shape, 0) > 0)
        return; // nothing is written
    if (overlaps_itself(out))
        fail(Code::OutOverlapsItself);
    Bytes written = bytes_of(out.data, out.dtype, out.shape, out.strides);
    for (const InputArray& input : inputs)
        if (input.location == out.location && written.meets(input.bytes))
            fail(Code::OverlappingOut, {input.name});
}

} // namespace

void check_out(const Extents& shape, DType dtype, const Location& location,
               const InputArrays& inputs, const Output& out) {
    if (out.location != location)
        fail(Code::OtherDevice,
             {"out", spelling_of(out.location), spelling_of(location)});
    if (!std::ranges::equal(out.shape, shape))
        fail(Code::OutShape, {spelling_of(out.shape), spelling_of(shape)});
    if (out.dtype != dtype)
        fail(Code::OutDType, {std::string(spelling_of(out.dtype)),
                              std::string(spelling_of(dtype))});
    check_overlap(inputs, out);
}

Target target_of(const KernelCall& call, const Output& out, bool accumulate) {
    auto stride = [&](int axis) {
        return axis < 0 ? 0 : out.strides[std::size_t(axis)];
    };
    Target target;
    target.data = static_cast<char*>(out.data);
    target.row = stride(call.row_axis);
    target.column = stride(call.column_axis);
    target.component = stride(call.component_axis);
    target.accumulate = accumulate;
    for (std::size_t d = 0; d < call.batch_dimensions; ++d)
        if (call.shape[d] != 1)
            target.batch.push_back(out.strides[d]);
    return target;
}

void check_accumulate(DType dtype, bool accumulate) {
    if (accumulate && dtype == DType::U64)
        fail(Code::BadOption,
             {"accumulate", "used with a result of uint64",
              "add the result to the array, or pass int64 numbers"});
}

} // namespace tilefold
