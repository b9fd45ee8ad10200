// python_bindings/errors.h - C++ errors as Python exceptions.
#pragma once

#include "formulas/diagnostic.h"

#include <nanobind/nanobind.h>

#include <new>
#include <string>

namespace tilefold::python {

namespace nb = nanobind;

/// Sets the Python exception for `error`: the class of its family in
/// tilefold.errors, with .formula, .span (in characters) and .code.
void set_error(const Error& error);
/// The same for any C++ exception that is being handled.
void set_current_error() noexcept;

/// Runs the body of a C slot: any exception becomes a Python one and null.
template <class Body> PyObject* slot(Body&& body) noexcept {
    try {
        return body().release().ptr();
    } catch (...) {
        set_current_error();
        return nullptr;
    }
}

/// Throws on what says nothing about the value that was asked: interrupts, no
/// memory, an error of the system.
void rethrow_unrelated(nb::python_error& error);
/// Forgets the error that Python holds, if any: the value has not what it was
/// asked for. What is unrelated is thrown on.
void forget_error();

/// str(object); "?" where that fails.
std::string text_of(nb::handle object);
/// "a list": the object's type for a message.
std::string type_of(nb::handle object);

/// The C++ object in `self`. Throws Error(NotMade) where there is none, as
/// after `Formula.__new__(Formula)`.
template <class Instance> Instance& instance(nb::handle self) {
    if (!nb::inst_ready(self))
        fail(Code::NotMade, {type_of(self)});
    return *nb::inst_ptr<Instance>(self);
}

void bind_errors(nb::module_& module);

} // namespace tilefold::python
