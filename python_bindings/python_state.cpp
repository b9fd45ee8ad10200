// python_bindings/python_state.cpp - see python_state.h.
#include "python_bindings/python_state.h"

#include "python_bindings/element_types.h"

namespace tilefold::python {

namespace {

PythonState state;

/// A reference that lives as long as the process, as the module does.
PyObject* keep(nb::object object) {
    return object.release().ptr();
}

PyObject* intern(const char* name) {
    PyObject* result = PyUnicode_InternFromString(name);
    if (!result)
        throw nb::python_error();
    return result;
}

void load_dtypes(const nb::module_& numpy) {
    nb::object make = numpy.attr("dtype");
#define DTYPE(name, spelling, bytes, kind)                                     \
    if (DType::name != DType::BF16)                                            \
        state.dtypes[std::size_t(DType::name)] =                               \
            keep(make(numpy_name(DType::name).c_str()));
#include "compiler/ir/dtypes.def"
#undef DTYPE
}

} // namespace

const PythonState& python_state() {
    return state;
}

void load_state() {
    nb::module_ numpy = nb::module_::import_("numpy");
    state.ndarray = keep(numpy.attr("ndarray"));
    state.generic = keep(numpy.attr("generic"));
    state.empty = keep(numpy.attr("empty"));
    state.asarray = keep(numpy.attr("asarray"));
    load_dtypes(numpy);
    state.role = keep(nb::module_::import_("tilefold.roles").attr("Role"));
    state.no_tuple = keep(nb::make_tuple());
    state.out = intern("out");
    state.accumulate = intern("accumulate");
    state.session = intern("session");
    state.options = intern("options");
    state.value = intern("value");
    state.axes = intern("axes");
    state.requires_grad = intern("requires_grad");
    state.is_neg = intern("is_neg");
    state.is_conj = intern("is_conj");
    state.current_level = intern("_current_level");
}

} // namespace tilefold::python
