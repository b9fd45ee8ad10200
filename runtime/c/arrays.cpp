// runtime/c/arrays.cpp - see arrays.h.

#include "runtime/c/arrays.h"

#include "runtime/c/guard.h"
#include "runtime/tensor/element_type.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tilefold::c {
namespace {

/// Element 0 of arrays that have none: a null pointer would mean a number.
const double no_elements[2] = {0, 0};

/// More than any formula or library has.
constexpr std::int32_t most_dimensions = 64;

std::string spelling_of(DLDataType type) {
    static constexpr const char* stems[] = {
        "int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const bool is_named = type.code < std::size(stems);
    std::string text = is_named ? stems[type.code]
                                : "code " + std::to_string(type.code) + ", ";
    text += std::to_string(type.bits);
    if (type.lanes != 1)
        text += "x" + std::to_string(type.lanes);
    return text;
}

/// Sums and products of a caller's numbers, which may be any.
std::int64_t times(const char* name, std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        fail(Code::BadTensor, {name, "it has more bytes than any memory"});
    return product;
}

void check_shape(const char* name, const DLTensor& tensor) {
    if (tensor.ndim < 0 || tensor.ndim > most_dimensions)
        fail(Code::BadTensor,
             {name, "it has " + std::to_string(tensor.ndim) + " dimensions"});
    if (tensor.ndim > 0 && !tensor.shape)
        fail(Code::BadTensor, {name, "it has no shape"});
    bool is_empty = false;
    for (std::int32_t axis = 0; axis < tensor.ndim; ++axis) {
        if (tensor.shape[axis] < 0)
            fail(Code::BadTensor, {name, "its shape is negative"});
        is_empty |= tensor.shape[axis] == 0;
    }
    if (!tensor.data && !is_empty)
        fail(Code::BadTensor, {name, "it has no data"});
}

Location location_of(const char* name, const DLDevice& device) {
    const auto type = device.device_type;
    if (type == kDLCUDA || type == kDLCUDAManaged)
        return Location::cuda(device.device_id);
    if (type != kDLCPU && type != kDLCUDAHost)
        fail(Code::OtherDevice,
             {name, "a device of DLPack's type " + std::to_string(int(type)),
              "the CPU"});
    return {};
}

/// Steps from element to element, in bytes.
void read_strides(const char* name, const DLTensor& tensor, Extents& strides) {
    const std::int64_t bytes = tensor.dtype.bits / 8;
    strides.resize(std::size_t(tensor.ndim));
    std::int64_t dense = bytes;
    for (std::int32_t axis = tensor.ndim; axis-- > 0;) {
        auto& stride = strides[std::size_t(axis)];
        stride =
            tensor.strides ? times(name, tensor.strides[axis], bytes) : dense;
        if (!tensor.strides)
            dense = times(name, dense,
                          std::max<std::int64_t>(tensor.shape[axis], 1));
    }
}

/// Fills a View or an Output; true where it is complex: then it has the real
/// parts.
template <class Array>
bool read_array(const char* name, const DLTensor& tensor, Array& array) {
    check_shape(name, tensor);
    bool is_complex = false;
    if (!read_element_type(tensor.dtype, array.dtype, is_complex))
        fail(Code::UnsupportedDType, {name, spelling_of(tensor.dtype)});
    array.location = location_of(name, tensor.device);
    array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    read_strides(name, tensor, array.strides);
    using Data = decltype(array.data);
    if (tensor.data)
        array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    else
        array.data = const_cast<Data>(static_cast<const void*>(no_elements));
    return is_complex;
}

/// Whether the array is what most callers pass for a result, which then needs
/// not be looked at any further.
bool is_usual(const DLTensor& tensor, const tilefold_bound::Result& result) {
    const Extents& shape = result.usual.shape;
    const DLDataType type = tensor.dtype;
    if (result.is_complex || !tensor.data || !tensor.shape ||
        tensor.device.device_type != kDLCPU || type.code != result.type.code ||
        type.bits != result.type.bits || type.lanes != result.type.lanes ||
        tensor.ndim != std::int32_t(shape.size()))
        return false;
    return std::equal(shape.begin(), shape.end(), tensor.shape) &&
           (!tensor.strides ||
            std::ranges::equal(result.strides,
                               std::span(tensor.strides, shape.size())));
}

std::optional<Axes> declared_axes(const tilefold_argument& argument) {
    if (argument.axes == TILEFOLD_AXES_WRITTEN)
        return std::nullopt;
    if (argument.axes < 0 || argument.axes > TILEFOLD_AXES_J)
        fail(Code::BadCount,
             {std::string("axes of ") + argument.name,
              std::to_string(argument.axes),
              "-1 for as written, 0 for a parameter, 1 for i or 2 for j"});
    return Axes(argument.axes);
}

void add_argument(const tilefold_argument& argument,
                  std::vector<NamedView>& views) {
    const std::optional<Axes> declared = declared_axes(argument);
    const std::size_t first = views.size();
    if (argument.array)
        add_array(argument.name, *argument.array, views);
    else
        views.push_back({argument.name, View::of_number(argument.number)});
    for (std::size_t k = first; k < views.size(); ++k)
        views[k].declared = declared;
}

} // namespace

void add_array(const char* name, const DLTensor& tensor,
               std::vector<NamedView>& views) {
    NamedView argument{name, {}};
    const bool is_complex = read_array(name, tensor, argument.view);
    views.push_back(argument);
    if (!is_complex)
        return;
    argument.part = Part::Imaginary;
    argument.view.data = static_cast<const char*>(argument.view.data) +
                         size_of(argument.view.dtype);
    views.push_back(std::move(argument));
}

std::vector<NamedView> views_of(const tilefold_argument* arguments,
                                std::int64_t count) {
    std::vector<NamedView> views;
    views.reserve(8);
    for (const tilefold_argument& argument :
         list_of("arguments", arguments, count, most_names)) {
        static_cast<void>(required("name of an argument", argument.name,
                                   "the name that the formula has"));
        require_unused("reserved", argument.reserved);
        add_argument(argument, views);
    }
    return views;
}

void Outputs::add(const DLTensor* tensor, bool is_complex) {
    static_cast<void>(required("out", tensor, "an array for each result"));
    Output& real = outputs_.emplace_back();
    const bool has_parts = read_array("out", *tensor, real);
    if (has_parts != is_complex)
        fail(Code::OutDType, {spelling_of(tensor->dtype),
                              is_complex ? "a complex one" : "a real one"});
    if (!is_complex)
        return;
    const Output copy = real; // which emplace_back() may move
    Output& imaginary = outputs_.emplace_back(copy);
    imaginary.data =
        static_cast<char*>(imaginary.data) + size_of(imaginary.dtype);
}

void Outputs::add_results(const tilefold_bound& bound,
                          const DLTensor* const* outs, std::int64_t count) {
    const auto given = list_of("outs", outs, count, most_names);
    if (given.size() != bound.results.size())
        fail(Code::BadCount, {"count", std::to_string(count),
                              std::to_string(bound.results.size()) +
                                  ", an array for each result"});
    for (std::size_t r = 0; r < given.size(); ++r) {
        const tilefold_bound::Result& result = bound.results[r];
        const DLTensor* tensor = given[r];
        if (!tensor || !is_usual(*tensor, result)) {
            add(tensor, result.is_complex);
            continue;
        }
        outputs_.push_back(result.usual);
        outputs_.back().data =
            static_cast<char*>(tensor->data) + tensor->byte_offset;
    }
}

} // namespace tilefold::c
