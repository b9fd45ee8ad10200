// runtime/core/view.cpp - views of numbers and of contiguous arrays.

#include "runtime/core/view.h"

#include <algorithm>

namespace tilefold {

std::string spelling_of(const Location& location) {
    switch (location.kind) {
    case Location::Kind::Host:
        return "the CPU";
    case Location::Kind::Cuda:
        break;
    }
    return "cuda:" + std::to_string(location.number);
}

Extents dense_strides(const Extents& shape, std::size_t step) {
    Extents strides(shape.size());
    auto stride = std::int64_t(step);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = stride;
        if (axis > 0) // beyond, the product may exceed any integer
            stride *= shape[axis];
    }
    return strides;
}

View View::of_number(double value) {
    View view;
    view.number = value;
    return view;
}

View View::of(const void* data, DType dtype, Extents shape) {
    View view;
    view.data = data;
    view.dtype = dtype;
    view.strides = dense_strides(shape, size_of(dtype));
    view.shape = std::move(shape);
    return view;
}

Output Output::of(void* data, DType dtype, const Extents& shape) {
    View view = View::of(data, dtype, shape);
    return {data, dtype, std::move(view.shape), std::move(view.strides), {}};
}

namespace {

std::int64_t product(const Extents& shape) {
    if (std::ranges::count(shape, 0) > 0) // the others may exceed any integer
        return 0;
    std::int64_t product = 1;
    for (std::int64_t extent : shape)
        product *= extent;
    return product;
}

} // namespace

std::int64_t View::elements() const {
    return product(shape);
}

double View::dense_bytes() const {
    double bytes = double(size_of(dtype));
    for (std::int64_t extent : shape)
        bytes *= double(extent);
    return bytes;
}

std::int64_t Output::elements() const {
    return product(shape);
}

Bytes bytes_of(const void* data, DType dtype, const Extents& shape,
               const Extents& strides) {
    auto* low = static_cast<const char*>(data);
    const char* high = low + size_of(dtype);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0)
            return {};
        std::int64_t reach = (shape[d] - 1) * strides[d];
        (reach < 0 ? low : high) += reach;
    }
    return {low, high};
}

std::string spelling_of(const Extents& shape) {
    std::string text = "(";
    for (std::size_t d = 0; d < shape.size(); ++d)
        text += (d ? ", " : "") + std::to_string(shape[d]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace tilefold
