// python_bindings/module.cpp - the module tilefold._core. Loading it makes no
// thread, opens no file and prints nothing.
#include "python_bindings/call.h"
#include "python_bindings/device_array.h"
#include "python_bindings/errors.h"
#include "python_bindings/ffi/handler.h"
#include "python_bindings/python_state.h"

#include <nanobind/nanobind.h>

namespace {

namespace nb = nanobind;

/// A function of a module by its name, as pickle has functions of Python.
nb::object name_of(nb::handle function) {
    return function.attr("__name__");
}

/// joblib sends functions, such as `tilefold.explain`, to its workers.
void make_functions_picklable(const nb::module_& module) {
    nb::module_::import_("copyreg").attr("pickle")(
        module.attr("explain").type(), module.attr("_name_of"));
}

} // namespace

NB_MODULE(_core, module) {
    using namespace tilefold::python;
    // Types and functions live as long as the process, on purpose.
    nb::set_leak_warnings(false);
    module.doc() = "The compiled part of tilefold.";
    module.attr("version") = TILEFOLD_VERSION;
    load_state();
    bind_errors(module);
    bind_options(module);
    bind_session(module);
    bind_arguments(module);
    bind_bound(module);
    bind_partial(module);
    bind_device_array(module);
    bind_ffi(module);
    bind_formula(module);
    bind_kernels(module);
    bind_language(module);
    bind_neighbors(module);
    bind_ranges(module);
    bind_solve(module);
    module.def("_name_of", &name_of,
               nb::sig("def _name_of(function: object) -> str"));
    make_functions_picklable(module);
}
