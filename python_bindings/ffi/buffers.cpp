// python_bindings/ffi/buffers.cpp - see buffers.h.
#include "python_bindings/ffi/buffers.h"

namespace tilefold::python {

namespace {

Element element_of(xla::ffi::DataType type) {
    namespace ffi = xla::ffi;
    struct Row {
        ffi::DataType type;
        DType dtype;
        bool is_complex = false;
    };
    static constexpr Row rows[] = {
        {ffi::F64, DType::F64},       {ffi::F32, DType::F32},
        {ffi::F16, DType::F16},       {ffi::BF16, DType::BF16},
        {ffi::S64, DType::I64},       {ffi::S32, DType::I32},
        {ffi::S16, DType::I16},       {ffi::S8, DType::I8},
        {ffi::U64, DType::U64},       {ffi::U32, DType::U32},
        {ffi::U16, DType::U16},       {ffi::U8, DType::U8},
        {ffi::PRED, DType::Bool},     {ffi::C64, DType::F32, true},
        {ffi::C128, DType::F64, true}};
    for (const Row& row : rows)
        if (row.type == type)
            return {row.dtype, row.is_complex};
    internal_error("a buffer of an element type that no call has");
}

} // namespace

Parts::Parts(const xla::ffi::AnyBuffer& buffer)
    : data(static_cast<char*>(buffer.untyped_data())),
      element(element_of(buffer.element_type())),
      shape(buffer.dimensions().begin(), buffer.dimensions().end()) {
    const std::size_t bytes = size_of(element.dtype);
    strides = dense_strides(shape, element.is_complex ? 2 * bytes : bytes);
}

void Arrays::add_input(std::string_view name, std::optional<Axes> declared,
                       std::size_t batch, const xla::ffi::AnyBuffer& buffer) {
    const Parts parts(buffer);
    for (std::size_t part = 0; part < parts.count(); ++part) {
        NamedView& input = inputs.emplace_back();
        input.name = name;
        input.part = part == 0 ? Part::Real : Part::Imaginary;
        input.declared = declared;
        input.batch = batch;
        input.view.data = parts.data ? parts.data + parts.offset(part)
                                     : static_cast<const void*>(no_elements);
        input.view.dtype = parts.element.dtype;
        input.view.shape = parts.shape;
        input.view.strides = parts.strides;
        input.view.location = location;
    }
}

void Arrays::add_output(const xla::ffi::AnyBuffer& buffer) {
    const Parts parts(buffer);
    for (std::size_t part = 0; part < parts.count(); ++part)
        outputs.push_back({parts.data + parts.offset(part), parts.element.dtype,
                           parts.shape, parts.strides, location});
}

xla::ffi::ErrorCode code_of(Family family) {
    switch (family) {
    case Family::OutOfMemory:
        return xla::ffi::ErrorCode::kResourceExhausted;
    case Family::Cancelled:
        return xla::ffi::ErrorCode::kCancelled;
    case Family::Internal:
    case Family::Warning:
        return xla::ffi::ErrorCode::kInternal;
    case Family::Formula:
    case Family::Shape:
    case Family::DType:
    case Family::Argument:
    case Family::Device:
        return xla::ffi::ErrorCode::kInvalidArgument;
    }
    return xla::ffi::ErrorCode::kInternal;
}

} // namespace tilefold::python
