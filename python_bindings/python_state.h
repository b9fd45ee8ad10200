// python_bindings/python_state.h - the Python objects and names the call path
// needs, looked up once when the module is loaded.
#pragma once

#include <nanobind/nanobind.h>

namespace tilefold::python {

namespace nb = nanobind;

/// Set once by load_state(); constant afterwards.
struct PythonState {
    PyObject* ndarray = nullptr;  ///< the type numpy.ndarray
    PyObject* generic = nullptr;  ///< numpy.generic: scalars
    PyObject* empty = nullptr;    ///< numpy.empty
    PyObject* asarray = nullptr;  ///< numpy.asarray
    PyObject* role = nullptr;     ///< the type tilefold.roles.Role
    PyObject* dtypes[16] = {};    ///< numpy.dtype by DType; null: none
    PyObject* no_tuple = nullptr; ///< ()
    // Names, interned.
    PyObject *out = nullptr, *accumulate = nullptr, *session = nullptr,
             *options = nullptr, *value = nullptr, *axes = nullptr,
             *requires_grad = nullptr, *is_neg = nullptr, *is_conj = nullptr,
             *current_level = nullptr;
};

const PythonState& python_state();
void load_state();

} // namespace tilefold::python
