// python_bindings/device_array.cpp - see device_array.h.
#include "python_bindings/device_array.h"

#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/streams.h"
#include "python_bindings/text_caster.h"

#include <memory>
#include <string>
#include <utility>

namespace tilefold::python {

namespace {

std::size_t bytes_of(const Extents& shape, const DLDataType& type) {
    std::size_t bytes = std::size_t(type.bits) / 8;
    for (const std::int64_t extent : shape)
        bytes *= std::size_t(extent);
    return bytes;
}

const DeviceArray& array_in(nb::handle self) {
    return instance<DeviceArray>(self);
}

/// A borrowed reference of the array, given back by whoever it is lent to.
template <class Managed> Managed* lend(nb::handle self) {
    const DeviceArray& array = array_in(self);
    auto managed = std::make_unique<Managed>();
    managed->dl_tensor.data = array.data();
    managed->dl_tensor.device = {kDLCUDA, array.location().number};
    managed->dl_tensor.ndim = std::int32_t(array.shape().size());
    managed->dl_tensor.dtype = array.type();
    // It lives as long as the array, and nobody writes to it.
    managed->dl_tensor.shape = const_cast<std::int64_t*>(array.shape().data());
    managed->dl_tensor.strides = nullptr;
    managed->dl_tensor.byte_offset = 0;
    managed->manager_ctx = self.inc_ref().ptr();
    managed->deleter = [](Managed* lent) {
        const AnyGil gil;
        if (!gil)
            return; // the process ends, and all of its memory with it
        nb::handle(static_cast<PyObject*>(lent->manager_ctx)).dec_ref();
        delete lent;
    };
    return managed.release();
}

/// Gives back what a capsule holds that nobody has taken.
template <class Managed> void drop(PyObject* capsule, const char* name) {
    if (!PyCapsule_IsValid(capsule, name))
        return;
    auto* lent = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    lent->deleter(lent);
}

nb::object capsule_of(nb::handle self, bool versioned) {
    if (!versioned) {
        constexpr static const char* name = "dltensor";
        return nb::steal(PyCapsule_New(
            lend<DLManagedTensor>(self), name,
            [](PyObject* capsule) { drop<DLManagedTensor>(capsule, name); }));
    }
    constexpr static const char* name = "dltensor_versioned";
    auto* lent = lend<DLManagedTensorVersioned>(self);
    lent->version = {1, 0};
    lent->flags = 0;
    return nb::steal(PyCapsule_New(lent, name, [](PyObject* capsule) {
        drop<DLManagedTensorVersioned>(capsule, name);
    }));
}

nb::tuple device_of(const DeviceArray& array) {
    return nb::make_tuple(int(kDLCUDA), array.location().number);
}

nb::object export_array(nb::handle self, nb::object stream,
                        nb::object max_version, nb::object dl_device,
                        nb::object copy) {
    const DeviceArray& array = array_in(self);
    if (!dl_device.is_none() && !dl_device.equal(device_of(array)))
        throw nb::buffer_error("a DeviceArray stays on its device");
    if (copy.is_valid() && copy.ptr() == Py_True)
        throw nb::buffer_error("a DeviceArray lends its memory, uncopied");
    constexpr std::intptr_t unordered = -1;
    std::intptr_t other = dlpack_stream(nullptr);
    if (!stream.is_none())
        other = nb::cast<std::intptr_t>(stream);
    if (other != unordered && other != dlpack_stream(array.stream()))
        array.let_wait(reinterpret_cast<void*>(other));
    const bool versioned = PyTuple_Check(max_version.ptr()) &&
                           PyTuple_Size(max_version.ptr()) > 0 &&
                           nb::cast<int>(max_version[0]) >= 1;
    return capsule_of(self, versioned);
}

nb::tuple shape_of(const DeviceArray& array) {
    nb::list extents;
    for (const std::int64_t extent : array.shape())
        extents.append(extent);
    return nb::tuple(extents);
}

std::string dtype_name(const DeviceArray& array) {
    DType dtype{};
    bool is_complex = false;
    read_element_type(array.type(), dtype, is_complex);
    return numpy_name(dtype, is_complex);
}

std::string repr(const DeviceArray& array) {
    return "tilefold.DeviceArray of shape " +
           tilefold::spelling_of(
               Extents(array.shape().begin(), array.shape().end())) +
           ", " + dtype_name(array) + " on " + spelling_of(array.location());
}

/// What numpy.asarray asks for, where it would make an array of one object.
[[noreturn]] void refuse_numpy(const DeviceArray& array, const nb::args&,
                               const nb::kwargs&) {
    fail(Code::DeviceArrayNotHost, {spelling_of(array.location())});
}

constexpr const char* device_array_doc =
    R"(A result on a GPU, which lends its memory through DLPack.

What a call of arrays gives that belong to no library with ``from_dlpack``; as
in ``tensor = torch.from_dlpack(result)``. C-contiguous. Work that wrote it may
still be queued on its stream; whoever takes it through DLPack waits there by
itself.

See Also
--------
Formula : whose calls give it.

Examples
--------
>>> hasattr(tilefold.DeviceArray, "__dlpack__")
True)";

} // namespace

DeviceArray::DeviceArray(const Bound& bound, void* stream, DType dtype,
                         const Extents& shape, bool is_complex)
    : owner_(bound), location_(bound.location()), stream_(stream),
      shape_(shape.begin(), shape.end()),
      type_(element_type(dtype, is_complex)),
      memory_(owner_.allocate(bytes_of(shape, type_), stream)) {}

void bind_device_array(nb::module_& module) {
    nb::class_<DeviceArray>(module, "DeviceArray", nb::is_weak_referenceable(),
                            device_array_doc)
        .def_prop_ro("shape", &shape_of,
                     nb::sig("def shape(self) -> tuple[int, ...]"),
                     "The extents, a tuple of int.")
        .def_prop_ro("dtype", &dtype_name,
                     "The dtype as NumPy names it, such as \"float32\".")
        .def_prop_ro(
            "device",
            [](const DeviceArray& array) {
                return spelling_of(array.location());
            },
            "The device, such as \"cuda:0\": a str.")
        .def("__dlpack_device__", &device_of,
             nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
        .def("__dlpack__", &export_array, nb::kw_only(),
             nb::arg("stream") = nb::none(),
             nb::arg("max_version") = nb::none(),
             nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
             nb::sig("def __dlpack__(self, *, stream: int | None = None, "
                     "max_version: tuple[int, int] | None = None, "
                     "dl_device: tuple[int, int] | None = None, "
                     "copy: bool | None = None) -> typing.Any"))
        .def("__array__", &refuse_numpy,
             nb::sig("def __array__(self, *args: typing.Any, "
                     "**kwargs: typing.Any) -> typing.NoReturn"))
        .def("__repr__", &repr);
}

} // namespace tilefold::python
