// python_bindings/frames.cpp - see frames.h.
#include "python_bindings/frames.h"

namespace tilefold::python {

nb::object readable(std::string_view name, PyObject* value) {
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value))
        return nb::borrow(value);
    return nb::module_::import_("tilefold.frames")
        .attr("readable")(nb::str(name.data(), name.size()), nb::handle(value));
}

} // namespace tilefold::python
