// python_bindings/tensors.cpp - see tensors.h.
#include "python_bindings/tensors.h"

#include "formulas/diagnostic.h"
#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/frames.h"
#include "python_bindings/python_state.h"
#include "python_bindings/streams.h"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace tilefold::python {

namespace {

std::string dtype_of_tensor(PyObject* value) {
    return text_of(nb::getattr(nb::handle(value), "dtype", nb::str("?")));
}

std::string device_of_tensor(PyObject* value) {
    return text_of(nb::getattr(nb::handle(value), "device", nb::str("cpu")));
}

[[noreturn]] void refuse_device(std::string_view name, PyObject* value) {
    fail(Code::OtherDevice,
         {std::string(name), device_of_tensor(value), "the CPU"});
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
        fail(Code::UnsupportedDType,
             {std::string(name), dtype_of_tensor(value)});
    view.data = tensor.data
                    ? static_cast<const char*>(tensor.data) + tensor.byte_offset
                    : reinterpret_cast<const char*>(no_elements);
    view.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    const int step = tensor.dtype.bits / 8;
    view.strides = dense_strides(view.shape, std::size_t(step));
    if (tensor.strides)
        for (std::int32_t axis = 0; axis < tensor.ndim; ++axis)
            view.strides[axis] = tensor.strides[axis] * step;
    return view;
}

/// What a function without arguments of torch's gives, as a number; -1 where
/// there is none, or it fails.
long number_of(PyObject* function) {
    if (!function)
        return -1;
    const nb::object answer = nb::steal(PyObject_CallNoArgs(function));
    const long number = answer ? PyLong_AsLong(answer.ptr()) : -1;
    if (PyErr_Occurred())
        forget_error();
    return number;
}

/// Whether a function of torch's says True of the value.
bool says_true(PyObject* function, PyObject* value) {
    if (!function)
        return false;
    PyObject* arguments[] = {nullptr, value};
    const nb::object answer = nb::steal(PyObject_Vectorcall(
        function, arguments + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!answer)
        forget_error();
    return answer.ptr() == Py_True;
}

bool is_traced(const ArrayKind& kind) {
    if (!kind.tracing_state)
        return false;
    const nb::object state = nb::steal(PyObject_CallNoArgs(kind.tracing_state));
    if (!state)
        forget_error();
    return state && !state.is_none();
}

/// Whether a level of forward differentiation is entered.
bool differentiates_forwards(const ArrayKind& kind) {
    if (!kind.forward_mode || number_of(kind.is_forward_enabled) == 0)
        return false;
    const nb::object level = nb::steal(
        PyObject_GetAttr(kind.forward_mode, python_state().current_level));
    const bool is_entered = level && PyLong_AsLong(level.ptr()) >= 0;
    if (PyErr_Occurred())
        forget_error();
    return is_entered;
}

/// torch's state, as it was when the first tensor of the call was read.
const TorchState& state_of_torch(const ArrayKind& kind,
                                 const ArrayRequest& wanted) {
    static const TorchState of_others{nullptr, false, true};
    if (!kind.is_grad_enabled)
        return of_others;
    if (wanted.torch)
        return *wanted.torch;
    TorchState& state = wanted.torch.emplace();
    if (is_traced(kind))
        state.what = "a tensor that torch.jit traces";
    else if (number_of(kind.dispatch_modes) > 0)
        state.what = "a tensor under a mode that sees each operation";
    state.may_move = differentiates_forwards(kind);
    state.records = number_of(kind.is_grad_enabled) != 0;
    return state;
}

bool has_tangent(PyObject* value, const ArrayKind& kind) {
    if (says_true(kind.is_batched, value)) // which has no rule for what follows
        return true;
    const nb::object dual =
        nb::handle(kind.forward_mode).attr("unpack_dual")(nb::handle(value));
    return !nb::object(dual.attr("tangent")).is_none();
}

/// What torch sees of a tensor that its memory does not hold; null: nothing. A
/// trace would keep the result as a constant, and a tangent would be lost.
const char* unseen(PyObject* value, const ArrayKind& kind,
                   const TorchState& state) {
    if (kind.is_subclass)
        return "a tensor of a class of its own";
    if (says_true(kind.is_tracer, value))
        return "a tensor of torch.func's transforms";
    if (state.what)
        return state.what;
    return state.may_move && has_tangent(value, kind)
               ? "a tensor with a tangent"
               : nullptr;
}

/// Whether a method without arguments of torch's says True.
bool answers_true(PyObject* value, PyObject* method) {
    const nb::object answer =
        nb::steal(PyObject_CallMethodObjArgs(value, method, nullptr));
    if (!answer)
        forget_error();
    return answer.ptr() == Py_True;
}

/// Of torch's lazy views, whose memory does not say that they are the negative
/// or the conjugate, which of them it is; null for any other array.
const char* lazy_view(PyObject* value, const ArrayKind& kind,
                      bool may_be_complex) {
    if (!kind.is_grad_enabled) // it is no tensor of torch's
        return nullptr;
    if (answers_true(value, python_state().is_neg))
        return "neg";
    return may_be_complex && answers_true(value, python_state().is_conj)
               ? "conj"
               : nullptr;
}

/// A copy of the array that such a view stands for; refused where it would be
/// written to, or had to change with the tensor.
nb::object resolved(std::string_view name, PyObject* value, const char* what,
                    const ArrayRequest& wanted) {
    if (wanted.writable || wanted.is_read_again)
        fail(Code::TensorView, {std::string(name), what});
    const std::string method = std::string("resolve_") + what;
    return nb::handle(value).attr(method.c_str())();
}

bool requires_gradient(PyObject* value) {
    const nb::object gradient =
        nb::steal(PyObject_GetAttr(value, python_state().requires_grad));
    if (!gradient)
        forget_error();
    return gradient.ptr() == Py_True;
}

/// Asks, before the tensor is asked for its memory, what that would not tell.
/// False where its library records what is computed, and it is not to be asked.
bool begin_lending(std::string_view name, PyObject* value,
                   const ArrayKind& kind, Pin& pin,
                   const ArrayRequest& wanted) {
    pin.owner = value;
    pin.name = name;
    const TorchState& torch = state_of_torch(kind, wanted);
    const char* what = unseen(value, kind, torch);
    if (what && !wanted.allows_recorded)
        fail(Code::Tracer, {std::string(name), what});
    const bool has_gradient =
        !what && torch.records && requires_gradient(value);
    if (has_gradient && !wanted.allows_recorded)
        fail(Code::RequiresGrad, {std::string(name)});
    pin.is_recorded = what || has_gradient;
    return !pin.is_recorded;
}

/// Whether it is a tensor that torch knows how to call the formula with, though
/// it has no memory of its own: one of autograd's own vmap, or a meta tensor.
bool is_without_memory(PyObject* value, const ArrayKind& kind) {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    bool is_meta = says_true(kind.is_batched, value);
    if (const nb::object meta =
            nb::steal(PyObject_GetAttrString(value, "is_meta")))
        is_meta |= meta.ptr() == Py_True;
    PyErr_Restore(type, error, trace);
    return is_meta;
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
    const std::string own(name);
    const auto is = [&](const char* attribute) {
        return nb::getattr(nb::handle(value), attribute, nb::none()).ptr() ==
               Py_True;
    };
    if (is("is_nested"))
        fail(Code::BadOption,
             {"'" + own + "'", "a nested tensor",
              "call it for each part of " + own + ".unbind()"});
    if (is("is_quantized"))
        fail(Code::UnsupportedDType,
             {own, text_of(nb::handle(value).attr("dtype"))});
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
    static_cast<void>(readable(name, value)); // pyarrow's with missing values
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
    if (exchange.dltensor_from_py_object_no_sync(value, &tensor) != 0) {
        pin.is_recorded =
            wanted.allows_recorded && is_without_memory(value, kind);
        if (!pin.is_recorded)
            refuse_unlent(name, value);
        forget_error();
        return {};
    }
    const bool is_complex = tensor.dtype.code == kDLComplex;
    if (const char* what = lazy_view(value, kind, is_complex)) {
        const nb::object array = resolved(name, value, what, wanted);
        return view_of_exchange(name, array.ptr(), kind, pin, wanted);
    }
    return view_of_tensor(name, value, tensor, pin);
}

View view_of_dlpack(std::string_view name, PyObject* value,
                    const ArrayKind& kind, Pin& pin,
                    const ArrayRequest& wanted) {
    if (wanted.writable && kind.is_immutable)
        fail(Code::ReadOnlyOut);
    if (!begin_lending(name, value, kind, pin, wanted))
        return {};
    if (const char* what = lazy_view(value, kind, true)) {
        const nb::object array = resolved(name, value, what, wanted);
        const View view = view_of_dlpack(name, array.ptr(), kind, pin, wanted);
        pin.take_object(array); // which `pin.owner` points to
        return view;
    }
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
