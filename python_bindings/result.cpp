// python_bindings/result.cpp - see result.h.
#include "python_bindings/result.h"

#include "formulas/diagnostic.h"
#include "python_bindings/array_memory.h"
#include "python_bindings/device_array.h"
#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/python_state.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

namespace tilefold::python {

namespace {

/// "12.5 GiB".
std::string size_text(double bytes) {
    static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB",
                                            "TiB",   "PiB", "EiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
        bytes /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", bytes,
                  units[unit]);
    return text;
}

double bytes_of(DType dtype, const Extents& shape) {
    double bytes = double(size_of(dtype));
    for (std::int64_t extent : shape)
        bytes *= double(extent);
    return bytes;
}

[[noreturn]] void out_of_memory(DType dtype, const Extents& shape) {
    std::string text;
    for (std::int64_t extent : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    if (shape.size() == 1)
        text += ",";
    fail(Code::OutOfMemory,
         {"a result of shape (" + text + ")", size_text(bytes_of(dtype, shape)),
          "reduce over an axis, or take fewer points"});
}

/// numpy.empty takes one number as well as a tuple; the number is cheaper.
nb::object shape_object(const Extents& shape) {
    if (shape.size() == 1)
        return nb::steal(PyLong_FromLongLong(shape[0]));
    nb::object tuple = nb::steal(PyTuple_New(Py_ssize_t(shape.size())));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        PyTuple_SetItem(tuple.ptr(), Py_ssize_t(axis),
                        PyLong_FromLongLong(shape[axis]));
    return tuple;
}

} // namespace

Result::~Result() {
    if (tensor_ && tensor_->deleter)
        tensor_->deleter(tensor_);
}

void Result::use(PyObject* out, const ArrayRequest& wanted, bool is_complex) {
    View view =
        view_of("out", out, pin_, {.writable = true, .stream = wanted.stream});
    if (pin_.is_complex != is_complex)
        fail(Code::OutDType, {numpy_name(view.dtype, pin_.is_complex),
                              is_complex ? "a complex one" : "a real one"});
    output_.data = const_cast<void*>(view.data);
    output_.dtype = view.dtype;
    output_.shape = view.shape;
    output_.strides = view.strides;
    output_.location = view.location;
    object_ = nb::borrow(out);
    given_ = true;
}

void Result::describe(const ArrayKind* kind, DType dtype, const Extents& shape,
                      bool is_complex) {
    kind_ = kind;
    output_.dtype = dtype;
    output_.shape = shape;
    output_.strides =
        dense_strides(shape, size_of(dtype) * (is_complex ? 2 : 1));
}

void Result::make(const Bound& bound, std::size_t number, const ArrayKind* kind,
                  void* stream, bool is_complex) {
    const DType dtype = bound.dtype(number);
    const Extents& shape = bound.shape(number);
    output_.location = bound.location();
    if (output_.location.is_host())
        return allocate(kind, dtype, shape, is_complex);
    describe(kind, dtype, shape, is_complex);
    if (kind && kind->exchange)
        return allocate_tensor(*kind->exchange, dtype, shape, is_complex);
    auto array =
        std::make_unique<DeviceArray>(bound, stream, dtype, shape, is_complex);
    output_.data = array->data();
    object_ = nb::cast(array.release(), nb::rv_policy::take_ownership);
    is_lent_ = true;
}

void Result::allocate(const ArrayKind* kind, DType dtype, const Extents& shape,
                      bool is_complex) {
    describe(kind, dtype, shape, is_complex);
    if (kind && kind->exchange)
        allocate_tensor(*kind->exchange, dtype, shape, is_complex);
    else
        allocate_numpy(dtype, shape, is_complex);
}

Output Result::imaginary() const {
    Output part = output_;
    part.data = static_cast<char*>(part.data) + size_of(part.dtype);
    return part;
}

void Result::allocate_numpy(DType dtype, const Extents& shape,
                            bool is_complex) {
    const PythonState& state = python_state();
    nb::object complex;
    if (is_complex)
        complex = nb::str(numpy_name(dtype, true).c_str());
    PyObject* element =
        is_complex ? complex.ptr() : state.dtypes[std::size_t(dtype)];
    if (!element)
        fail(Code::UnsupportedDType, {"the result", numpy_name(dtype)});
    nb::object extents = shape_object(shape);
    PyObject* values[] = {nullptr, extents.ptr(), element};
    {
        const LargeArrays memory(bytes_of(dtype, shape) * (is_complex ? 2 : 1));
        object_ = nb::steal(
            PyObject_Vectorcall(state.empty, values + 1,
                                2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    }
    if (!object_) {
        PyErr_Clear();
        out_of_memory(dtype, shape);
    }
    if (!pin_.take_buffer(object_.ptr(), PyBUF_WRITABLE))
        throw nb::python_error();
    output_.data = pin_.buffer().buf;
}

void Result::allocate_tensor(const DLPackExchangeAPI& exchange, DType dtype,
                             const Extents& shape, bool is_complex) {
    Extents extents = shape;
    DLTensor prototype{};
    prototype.device = {kDLCPU, 0};
    if (!output_.location.is_host())
        prototype.device = {kDLCUDA, output_.location.number};
    prototype.ndim = std::int32_t(shape.size());
    prototype.dtype = element_type(dtype, is_complex);
    prototype.shape = extents.data();
    auto ignore = [](void*, const char*, const char*) {};
    if (exchange.managed_tensor_allocator(&prototype, &tensor_, nullptr,
                                          ignore) != 0) {
        PyErr_Clear();
        out_of_memory(dtype, shape);
    }
    output_.data = static_cast<char*>(tensor_->dl_tensor.data) +
                   tensor_->dl_tensor.byte_offset;
}

nb::object Result::take() {
    if (given_) {
        note_written();
        return std::move(object_);
    }
    if (tensor_) {
        void* object = nullptr;
        if (kind_->exchange->managed_tensor_to_py_object_no_sync(tensor_,
                                                                 &object) != 0)
            throw nb::python_error();
        tensor_ = nullptr;
        return nb::steal(static_cast<PyObject*>(object));
    }
    if (kind_ && kind_->from_dlpack)
        return nb::handle(kind_->from_dlpack)(object_);
    if (output_.shape.empty() && !is_lent_)
        return nb::steal(
            PyObject_GetItem(object_.ptr(), python_state().no_tuple));
    return std::move(object_);
}

nb::object Result::keep() {
    if (tensor_)
        object_ = take();
    if (!given_ && kind_ && kind_->from_dlpack)
        return kind_->is_immutable ? copied()
                                   : nb::handle(kind_->from_dlpack)(object_);
    return object_;
}

/// An array of its own for a library whose arrays never change: the next call
/// writes to this memory, and libraries copy when it suits them.
nb::object Result::copied() {
    // JAX does not always copy memory of the host that is aligned, when asked.
    if (nb::hasattr(object_, "copy"))
        return nb::handle(kind_->from_dlpack)(object_.attr("copy")());
    nb::object copy =
        nb::handle(kind_->from_dlpack)(object_, nb::arg("copy") = true);
    copy.attr("block_until_ready")();
    return copy;
}

void Result::note_written() const {
    if (!pin_.owner && !(kind_ && kind_->exchange))
        return;
    PyObject* array = object_.ptr();
    const ArrayKind& kind = array_kind(Py_TYPE(array));
    if (kind.increment_version &&
        !nb::steal(PyObject_Vectorcall(kind.increment_version, &array, 1,
                                       nullptr))) // of the stable ABI
        forget_error(); // of inference mode, which saves nothing
}

void Result::watch(BorrowCheck& watch) const {
    if (pin_.owner || (kind_ && kind_->exchange))
        watch.add("out", object_.ptr());
}

} // namespace tilefold::python
