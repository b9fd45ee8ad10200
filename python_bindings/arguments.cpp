// python_bindings/arguments.cpp - see arguments.h.
//
// 1. Numbers and NumPy arrays come first: they are what calls are made of.
// 2. A refusal names the argument and the cure (diagnostics.def).
// 3. Nothing is copied, except what numpy.asarray must build (lists).
#include "python_bindings/arguments.h"

#include "formulas/diagnostic.h"
#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/frames.h"
#include "python_bindings/python_state.h"
#include "python_bindings/tensors.h"

#include <cmath>
#include <string>
#include <utility>

namespace tilefold::python {

namespace {

/// "float128" of an array; the type's name of anything else.
std::string element_name(PyObject* value) {
    nb::object dtype = nb::getattr(nb::handle(value), "dtype", nb::none());
    return dtype.is_none() ? type_of(value) : text_of(dtype);
}

std::string_view format_of(const Py_buffer& buffer) {
    return buffer.format ? buffer.format : "B";
}

/// Whether the elements are stored in the other byte order.
bool is_of_other_order(const Py_buffer& buffer) {
    const std::string_view format = format_of(buffer);
    return buffer.itemsize > 1 &&
           (format.starts_with('>') || format.starts_with('!'));
}

[[noreturn]] void refuse_elements(std::string_view name, PyObject* value,
                                  const Py_buffer& buffer) {
    std::string argument(name);
    if (format_of(buffer) == "O")
        fail(Code::ObjectArray, {argument});
    if (is_of_other_order(buffer))
        fail(Code::BigEndian, {argument, "tilefold"});
    fail(Code::UnsupportedDType, {argument, element_name(value)});
}

/// bfloat16 of the package ml_dtypes, which has no buffer format.
nb::object as_bits_of_bfloat16(PyObject* value) {
    nb::object dtype = nb::getattr(nb::handle(value), "dtype", nb::none());
    if (dtype.is_none() || text_of(dtype) != "bfloat16")
        return {};
    return nb::handle(value).attr("view")("uint16");
}

View view_of_filled_buffer(std::string_view name, PyObject* value, Pin& pin) {
    const Py_buffer& buffer = pin.buffer();
    View view;
    if (!read_format(format_of(buffer), std::size_t(buffer.itemsize),
                     view.dtype, pin.is_complex))
        refuse_elements(name, value, buffer);
    view.data = buffer.buf ? buffer.buf : no_elements;
    view.shape.assign(buffer.shape, buffer.shape + buffer.ndim);
    // Arrays of ctypes have none, whatever is asked for.
    if (buffer.strides)
        view.strides.assign(buffer.strides, buffer.strides + buffer.ndim);
    else
        view.strides = dense_strides(view.shape, std::size_t(buffer.itemsize));
    return view;
}

/// A copy of an array of numbers in the other byte order: FITS and NetCDF
/// have them.
nb::object in_this_order(PyObject* value) {
    const nb::object array = nb::steal(
        PyObject_CallFunctionObjArgs(python_state().asarray, value, nullptr));
    return array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
}

View view_of_buffer(std::string_view name, PyObject* value, Pin& pin,
                    const ArrayRequest& wanted) {
    int flags = wanted.writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
    if (pin.take_buffer(value, flags)) {
        if (!is_of_other_order(pin.buffer()) || wanted.writable ||
            wanted.is_read_again)
            return view_of_filled_buffer(name, value, pin);
        const nb::object native = in_this_order(value);
        pin.give_back();
        return view_of_buffer(name, native.ptr(), pin, wanted);
    }
    forget_error();
    if (nb::object bits = as_bits_of_bfloat16(value)) {
        View view = view_of_buffer(name, bits.ptr(), pin, wanted);
        view.dtype = DType::BF16;
        return view;
    }
    if (wanted.writable && pin.take_buffer(value, PyBUF_RECORDS_RO))
        fail(Code::ReadOnlyOut);
    forget_error();
    fail(Code::UnsupportedDType, {std::string(name), element_name(value)});
}

/// Lists, data frames, anything numpy.asarray reads.
View view_of_converted(std::string_view name, PyObject* value, Pin& pin) {
    std::string argument(name);
    if (value == Py_None || PyUnicode_Check(value) || PyBytes_Check(value) ||
        PyDict_Check(value))
        fail(Code::UnsupportedDType, {argument, type_of(value)});
    const nb::object read = readable(name, value);
    nb::object array = nb::steal(PyObject_CallFunctionObjArgs(
        python_state().asarray, read.ptr(), nullptr));
    if (!array) {
        nb::python_error error;
        if (text_of(error.type().attr("__name__")).starts_with("Tracer"))
            fail(Code::Tracer, {argument, type_of(value) + " of tracers"});
        rethrow_unrelated(error);
        fail(Code::UnsupportedDType,
             {argument, type_of(value) + " that is no array"});
    }
    return view_of_buffer(name, array.ptr(), pin, {});
}

bool is_number(PyObject* value) {
    return PyFloat_Check(value) || PyLong_Check(value);
}

/// Whether a double holds an integer, of which it is the nearest one.
bool holds(double number, PyObject* integer) {
    if (std::abs(number) < 0x1p53)
        return true;
    const nb::object whole = nb::steal(PyLong_FromDouble(number));
    return PyObject_RichCompareBool(whole.ptr(), integer, Py_EQ) == 1;
}

/// Whether an integer is an int64 or a uint64.
bool fits_64_bits(PyObject* integer) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (overflow > 0)
        PyLong_AsUnsignedLongLong(integer);
    const bool fits = overflow >= 0 && !PyErr_Occurred();
    PyErr_Clear();
    return fits;
}

/// A number is a double; an integer that no double holds is an int64 or a
/// uint64.
View view_of_number(std::string_view name, PyObject* value, const auto& pin) {
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(Code::UnsupportedDType,
             {std::string(name), "an integer beyond 1.8e308"});
    }
    if (PyFloat_Check(value) || holds(number, value))
        return View::of_number(number);
    if (!fits_64_bits(value))
        fail(Code::UnsupportedDType,
             {std::string(name),
              "an integer beyond 64 bits that no float64 is"});
    return view_of_converted(name, value, pin());
}

View view_by_kind(std::string_view name, PyObject* value, Pin& pin,
                  const ArrayKind& kind, const ArrayRequest& wanted) {
    switch (kind.access) {
    case Access::Buffer:
        return view_of_buffer(name, value, pin, wanted);
    case Access::Masked:
        fail(Code::MaskedArray, {std::string(name)});
    case Access::Tracer:
        fail(Code::Tracer, {std::string(name), type_of(value)});
    case Access::Sparse:
        fail(Code::SparseArray, {std::string(name)});
    case Access::Exchange:
        return view_of_exchange(name, value, kind, pin, wanted);
    case Access::Dlpack:
        return view_of_dlpack(name, value, kind, pin, wanted);
    case Access::Role:
    case Access::Quantized:
    case Access::Convert:
        break;
    }
    if (wanted.writable)
        fail(Code::OutNotArray, {type_of(value)});
    return view_of_converted(name, value, pin);
}

Axes declared_axes(PyObject* role) {
    nb::object axes = nb::steal(PyObject_GetAttr(role, python_state().axes));
    return Axes(nb::cast<int>(axes));
}

} // namespace

View imaginary_of(const View& real) {
    View view = real;
    view.data = static_cast<const char*>(real.data) + size_of(real.dtype);
    return view;
}

View view_of(std::string_view name, PyObject* value, Pin& pin,
             const ArrayRequest& wanted) {
    if (!wanted.writable && is_number(value))
        return view_of_number(name, value, [&]() -> Pin& { return pin; });
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == python_state().ndarray)
        return view_of_buffer(name, value, pin, wanted);
    return view_by_kind(name, value, pin, array_kind(Py_TYPE(value)), wanted);
}

Arguments::~Arguments() {
    for (Pin* pin : more_pins_)
        delete pin;
}

Pin& Arguments::next_pin() {
    if (pins_used_ < inline_pins)
        return pins_[pins_used_++];
    more_pins_.push_back(nullptr);
    more_pins_.back() = new Pin;
    return *more_pins_.back();
}

void Arguments::join(std::string_view name, const ArrayKind& kind) {
    if (kind.library.empty())
        return;
    if (kind_ && kind_->library != kind.library)
        fail(Code::TwoLibraries,
             {std::string(name), kind.library, kind_->library});
    kind_ = &kind;
}

CallStream Arguments::stream() const {
    if (device_.is_host())
        return {};
    return stream_of_call(wanted_.stream, device_kind_, device_);
}

void Arguments::meet(const View& view, const ArrayKind& kind) {
    if (view.location.is_host() || !device_.is_host())
        return;
    device_ = view.location;
    device_kind_ = &kind;
}

/// The codes, and two parameters by which the compiler reads them.
void Arguments::add_quantized(std::string_view name, PyObject* value,
                              std::optional<Axes> declared) {
    for (const auto& [attribute, part] :
         {std::pair("codes", Part::Real), std::pair("per_step", Part::PerStep),
          std::pair("zero", Part::Zero)}) {
        NamedView& argument = views_.emplace_back();
        argument.name = name;
        argument.part = part;
        Pin& pin = next_pin();
        nb::object array = nb::handle(value).attr(attribute);
        argument.view = view_of(name, array.ptr(), pin, wanted_);
        is_recorded_ |= pin.is_recorded;
        argument.declared = std::exchange(declared, std::nullopt);
        meet(argument.view, array_kind(Py_TYPE(array.ptr())));
        pin.take_object(std::move(array));
    }
}

void Arguments::add_complex_number(std::string_view name, PyObject* value) {
    views_.back().view = View::of_number(PyComplex_RealAsDouble(value));
    NamedView& imaginary = views_.emplace_back();
    imaginary.name = name;
    imaginary.part = Part::Imaginary;
    imaginary.view = View::of_number(PyComplex_ImagAsDouble(value));
}

/// Adds the imaginary parts beside the real ones that were added last.
void Arguments::add_imaginary() {
    const NamedView real = views_.back();
    NamedView& imaginary = views_.emplace_back(real);
    imaginary.part = Part::Imaginary;
    imaginary.view = imaginary_of(real.view);
}

void Arguments::add(std::string_view name, PyObject* value) {
    const PythonState& state = python_state();
    NamedView& argument = views_.emplace_back();
    argument.name = name;
    if (is_number(value)) {
        argument.view = view_of_number(name, value,
                                       [this]() -> Pin& { return next_pin(); });
        return;
    }
    auto* type = Py_TYPE(value);
    if (reinterpret_cast<PyObject*>(type) == state.ndarray) {
        Pin& pin = next_pin();
        argument.view = view_of_buffer(name, value, pin, wanted_);
        if (pin.is_complex)
            add_imaginary();
        return;
    }
    const ArrayKind* kind = &array_kind(type);
    nb::object inner;
    if (kind->access == Access::Role) {
        argument.declared = declared_axes(value);
        inner = nb::steal(PyObject_GetAttr(value, state.value));
        value = inner.ptr();
        kind = &array_kind(Py_TYPE(value));
    }
    if (kind->access == Access::Quantized) {
        const std::optional<Axes> declared = argument.declared;
        views_.pop_back();
        return add_quantized(name, value, declared);
    }
    if (PyComplex_Check(value))
        return add_complex_number(name, value);
    if (kind->is_called && wanted_.allows_recorded) {
        is_recorded_ = true;
        return;
    }
    Pin& pin = next_pin();
    argument.view = view_of(name, value, pin, wanted_);
    is_recorded_ |= pin.is_recorded;
    join(name, *kind);
    meet(argument.view, *kind);
    if (pin.is_complex)
        add_imaginary();
    if (inner.is_valid())
        pin.take_object(std::move(inner));
}

} // namespace tilefold::python
