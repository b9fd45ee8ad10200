// python_bindings/streams.cpp - see streams.h.
#include "python_bindings/streams.h"

#include "formulas/diagnostic.h"
#include "python_bindings/errors.h"

#include <optional>
#include <utility>

namespace tilefold::python {

namespace {

std::optional<void*> handle_in(nb::handle number) {
    std::intptr_t handle = 0;
    if (!PyLong_Check(number.ptr()) || !nb::try_cast(number, handle))
        return std::nullopt;
    return reinterpret_cast<void*>(handle);
}

/// (version, handle) of the protocol `__cuda_stream__`.
std::optional<void*> handle_by_protocol(nb::handle value) {
    nb::object method = nb::getattr(value, "__cuda_stream__", nb::none());
    if (method.is_none())
        return std::nullopt;
    nb::object pair = method();
    if (!PyTuple_Check(pair.ptr()) || PyTuple_Size(pair.ptr()) != 2)
        return std::nullopt;
    return handle_in(PyTuple_GetItem(pair.ptr(), 1));
}

/// What a library says is its current stream of a device.
std::optional<void*> current_stream(const ArrayKind& kind, int number) {
    void* handle = nullptr;
    if (kind.exchange && kind.exchange->current_work_stream &&
        kind.exchange->current_work_stream(kDLCUDA, number, &handle) == 0)
        return handle;
    PyErr_Clear();
    if (!kind.current_stream)
        return std::nullopt;
    return stream_of(nb::handle(kind.current_stream)(number));
}

} // namespace

void* stream_of(nb::handle value) {
    if (const auto handle = handle_in(value))
        return *handle;
    for (const char* attribute : {"cuda_stream", "ptr"}) {
        nb::object number = nb::getattr(value, attribute, nb::none());
        if (const auto handle = handle_in(number))
            return *handle;
    }
    if (const auto handle = handle_by_protocol(value))
        return *handle;
    fail(Code::BadOption, {"stream", type_of(value),
                           "pass a stream of PyTorch or CuPy, or its number"});
}

CallStream stream_of_call(nb::handle given, const ArrayKind* kind,
                          const Location& location) {
    if (given.is_valid() && !given.is_none())
        return {stream_of(given), false};
    if (kind)
        if (const auto handle = current_stream(*kind, location.number))
            return {*handle, false};
    return {nullptr, true};
}

} // namespace tilefold::python
