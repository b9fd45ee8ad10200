// python_bindings/traverse.h - objects in cycles: what the collector asks of a
// class that holds Python objects. It has `each_reference(visit)`, which calls
// `visit` once for each reference it holds. Such an object clears nothing: a
// cycle has a dictionary, a cell or a list in it, which does.
#pragma once

#include <nanobind/nanobind.h>

namespace tilefold::python {

namespace nb = nanobind;

template <class Instance>
int traverse(PyObject* self, visitproc visit, void* arg) { // Py_VISIT's name
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self))
        return 0;
    int stopped = 0;
    nb::inst_ptr<Instance>(self)->each_reference([&](PyObject* held) {
        if (held && stopped == 0)
            stopped = visit(held, arg);
    });
    return stopped;
}

template <class Instance>
inline PyType_Slot collected_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse<Instance>)},
    {0, nullptr},
};

} // namespace tilefold::python
