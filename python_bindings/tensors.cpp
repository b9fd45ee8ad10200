// python_bindings/tensors.cpp - see tensors.h.
#include "python_bindings/tensors.h"

#include "formulas/diagnostic.h"
#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/python_state.h"
#include "python_bindings/streams.h"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace tilefold::python {

namespace {

const double no_elements[2] = {0, 0};

std::string element_name(PyObject* value) {
    return text_of(nb::getattr(nb::handle(value), "dtype", nb::str("?")));
}

std::string device_of(PyObject* value) {
    return text_of(nb::getattr(nb::handle(value), "device", nb::str("cpu")));
}

[[noreturn]] void refuse_device(std::string_view name, PyObject* value) {
    fail(Code::OtherDevice, {std::string(name), device_of(value), "the CPU"});
}

bool is_of_cuda(std::int32_t device_type) {
    return device_type == kDLCUDA || device_type == kDLCUDAManaged;
}

bool is_lendable(std::int32_t device_type) {
    return device_type == kDLCPU || device_type == kDLCUDAHost ||
           is_of_cuda(device_type);
}

Location location_of(std::string_view name, PyObject* value,
                     const DLDevice& device) {
    if (!is_lendable(device.device_type))
        refuse_device(name, value);
    return is_of_cuda(device.device_type) ? Location::cuda(device.device_id)
                                          : Location{};
}

/// torch's view of the conjugate is not what its memory says.
void refuse_conjugate(std::string_view name, PyObject* value) {
    nb::object conjugate =
        nb::getattr(nb::handle(value), "is_conj", nb::none());
    if (!conjugate.is_none() && nb::cast<bool>(conjugate()))
        fail(Code::TensorView, {std::string(name), "conj"});
}

/// What a tensor of no memory, as torch's fake ones, or a library's mistake
/// would make us read.
void check_memory(std::string_view name, const DLTensor& tensor) {
    if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
        fail(Code::NotLent, {std::string(name), "it has no shape"});
    const std::span<const std::int64_t> shape(tensor.shape,
                                              std::size_t(tensor.ndim));
    if (std::ranges::any_of(shape, [](std::int64_t n) { return n < 0; }))
        fail(Code::NotLent, {std::string(name), "its shape is negative"});
    if (!tensor.data && std::ranges::count(shape, 0) == 0)
        fail(Code::NotLent, {std::string(name), "it has no memory"});
}

View view_of_tensor(std::string_view name, PyObject* value,
                    const DLTensor& tensor, Pin& pin) {
    check_memory(name, tensor);
    View view;
    view.location = location_of(name, value, tensor.device);
    if (!read_element_type(tensor.dtype, view.dtype, pin.is_complex))
        fail(Code::UnsupportedDType, {std::string(name), element_name(value)});
    if (pin.is_complex)
        refuse_conjugate(name, value);
    view.data = tensor.data
                    ? static_cast<const char*>(tensor.data) + tensor.byte_offset
                    : reinterpret_cast<const char*>(no_elements);
    view.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    view.strides.resize(std::size_t(tensor.ndim));
    std::int64_t step = tensor.dtype.bits / 8;
    std::int64_t dense = step;
    for (std::int32_t axis = tensor.ndim; axis-- > 0;) {
        view.strides[axis] =
            tensor.strides ? tensor.strides[axis] * step : dense;
        dense *= tensor.shape[axis];
    }
    return view;
}

bool gradients_are_recorded() {
    nb::object torch = nb::steal(PyImport_ImportModule("torch"));
    return !torch || nb::cast<bool>(torch.attr("is_grad_enabled")());
}

/// What has no memory to be asked for.
void refuse_tracer(std::string_view name, PyObject* value,
                   const ArrayKind& kind) {
    if (!kind.is_tracer)
        return;
    PyObject* arguments[] = {nullptr, value};
    nb::object answer = nb::steal(
        PyObject_Vectorcall(kind.is_tracer, arguments + 1,
                            1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!answer)
        return forget_error();
    if (answer.ptr() == Py_True)
        fail(Code::Tracer,
             {std::string(name), "a tensor of torch.func's transforms"});
}

/// A trace would keep the result as a constant, and a tangent would be lost.
void refuse_unrecorded(std::string_view name, PyObject* value,
                       const ArrayKind& kind) {
    if (kind.tracing_state) {
        nb::object state = nb::steal(PyObject_CallNoArgs(kind.tracing_state));
        if (state && !state.is_none())
            fail(Code::Tracer,
                 {std::string(name), "a tensor that torch.jit traces"});
        forget_error();
    }
    if (!kind.forward_mode)
        return;
    nb::object level = nb::steal(
        PyObject_GetAttr(kind.forward_mode, python_state().current_level));
    if (!level || PyLong_AsLong(level.ptr()) < 0)
        return forget_error();
    const nb::object dual =
        nb::handle(kind.forward_mode).attr("unpack_dual")(nb::handle(value));
    if (!nb::object(dual.attr("tangent")).is_none())
        fail(Code::Tracer, {std::string(name), "a tensor with a tangent"});
}

/// torch's views that are not what their memory says.
void refuse_negative(std::string_view name, PyObject* value) {
    const nb::object negative = nb::steal(
        PyObject_CallMethodObjArgs(value, python_state().is_neg, nullptr));
    if (!negative)
        return forget_error();
    if (negative.ptr() == Py_True)
        fail(Code::TensorView, {std::string(name), "neg"});
}

/// Asks, before the tensor is asked for its memory, what that would not tell.
/// False where its gradient is to be recorded, and it is not to be asked.
bool begin_lending(std::string_view name, PyObject* value,
                   const ArrayKind& kind, Pin& pin,
                   const ArrayRequest& wanted) {
    pin.lender = value;
    pin.name = name;
    refuse_tracer(name, value, kind);
    refuse_unrecorded(name, value, kind);
    const nb::object gradient =
        nb::steal(PyObject_GetAttr(value, python_state().requires_grad));
    if (!gradient) { // nor has it torch's views
        forget_error();
        return true;
    }
    if (gradient.ptr() == Py_True && gradients_are_recorded()) {
        if (!wanted.allows_gradient)
            fail(Code::RequiresGrad, {std::string(name)});
        pin.requires_gradient = true;
        return false;
    }
    refuse_negative(name, value);
    return true;
}

/// The device that `__dlpack_device__` names; 0 where the value does not say.
std::int32_t device_type(PyObject* value) {
    nb::object device =
        nb::steal(PyObject_CallMethod(value, "__dlpack_device__", nullptr));
    std::pair<int, int> found{0, 0};
    if (!device || !nb::try_cast(device, found))
        forget_error();
    return found.first;
}

/// A tensor that DLPack would not lend: says why.
[[noreturn]] void refuse_unlent(std::string_view name, PyObject* value) {
    std::string reason = "it gives no reason";
    if (PyErr_Occurred()) {
        nb::python_error error;
        rethrow_unrelated(error);
        reason = text_of(error.value());
    }
    nb::object layout =
        nb::getattr(nb::handle(value), "layout", nb::str("torch.strided"));
    if (text_of(layout) != "torch.strided")
        fail(Code::SparseArray, {std::string(name)});
    if (!is_lendable(device_type(value)))
        refuse_device(name, value);
    fail(Code::NotLent, {std::string(name), reason});
}

/// The stream as a keyword, where the array is on a device that has any: its
/// library makes that wait for what it has queued itself.
nb::dict stream_keyword(PyObject* value, const ArrayKind& kind,
                        const ArrayRequest& wanted) {
    nb::dict keywords;
    nb::object device =
        nb::getattr(nb::handle(value), "__dlpack_device__", nb::none());
    if (device.is_none())
        return keywords;
    const auto [type, number] = nb::cast<std::pair<int, int>>(device());
    if (is_of_cuda(type))
        keywords["stream"] = dlpack_stream(
            stream_of_call(wanted.stream, &kind, Location::cuda(number))
                .handle);
    return keywords;
}

/// value.__dlpack__(max_version=(1, 0)), or without for older libraries.
nb::object capsule_of(std::string_view name, PyObject* value,
                      const ArrayKind& kind, const ArrayRequest& wanted) {
    nb::object method = nb::handle(value).attr("__dlpack__");
    const nb::dict keywords = stream_keyword(value, kind, wanted);
    try {
        return method(nb::arg("max_version") = nb::make_tuple(1, 0),
                      **keywords);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) {
            error.restore();
            refuse_unlent(name, value);
        }
    }
    nb::object nothing = nb::make_tuple();
    nb::object capsule =
        nb::steal(PyObject_Call(method.ptr(), nothing.ptr(), keywords.ptr()));
    if (!capsule)
        refuse_unlent(name, value);
    return capsule;
}

} // namespace

View view_of_exchange(std::string_view name, PyObject* value,
                      const ArrayKind& kind, Pin& pin,
                      const ArrayRequest& wanted) {
    const DLPackExchangeAPI& exchange = *kind.exchange;
    if (!begin_lending(name, value, kind, pin, wanted))
        return {};
    pin.take_object(nb::borrow(value));
    DLTensor tensor;
    if (exchange.dltensor_from_py_object_no_sync(value, &tensor) != 0)
        refuse_unlent(name, value);
    return view_of_tensor(name, value, tensor, pin);
}

View view_of_dlpack(std::string_view name, PyObject* value,
                    const ArrayKind& kind, Pin& pin,
                    const ArrayRequest& wanted) {
    if (wanted.writable && kind.is_immutable)
        fail(Code::ReadOnlyOut);
    if (!begin_lending(name, value, kind, pin, wanted))
        return {};
    nb::object capsule = capsule_of(name, value, kind, wanted);
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        auto* lent = static_cast<DLManagedTensorVersioned*>(
            PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
        pin.take_tensor(lent);
        if (lent->version.major !=
            DLPACK_MAJOR_VERSION) // nothing else of it is known
            fail(Code::NotLent,
                 {std::string(name), "its DLPack is of version " +
                                         std::to_string(lent->version.major)});
        if (wanted.writable && (lent->flags & DLPACK_FLAG_BITMASK_READ_ONLY))
            fail(Code::ReadOnlyOut);
        return view_of_tensor(name, value, lent->dl_tensor, pin);
    }
    auto* lent = static_cast<DLManagedTensor*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (!lent)
        refuse_unlent(name, value);
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    pin.take_tensor(lent);
    return view_of_tensor(name, value, lent->dl_tensor, pin);
}

} // namespace tilefold::python
