// python_bindings/frames.cpp - see frames.h.
#include "python_bindings/frames.h"

namespace tilefold::python {

namespace {

/// Whether it is a list of numbers, by the first of them.
bool is_list_of_numbers(PyObject* value) {
    if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value))
        return false;
    if (PySequence_Size(value) == 0)
        return true;
    const nb::object first = nb::steal(PySequence_GetItem(value, 0));
    return PyFloat_Check(first.ptr()) || PyLong_Check(first.ptr());
}

} // namespace

nb::object readable(std::string_view name, PyObject* value) {
    if (is_list_of_numbers(value))
        return nb::borrow(value);
    return nb::module_::import_("tilefold.frames")
        .attr("readable")(nb::str(name.data(), name.size()), nb::handle(value));
}

} // namespace tilefold::python
