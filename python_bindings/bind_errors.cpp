// python_bindings/bind_errors.cpp - Error to the classes of tilefold.errors,
// and the rows of diagnostics.def for messages raised in Python.
#include "python_bindings/errors.h"
#include "python_bindings/text_caster.h"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::python {

namespace {

const char* class_name(const Error& error) {
    if (error.code() == Code::KeyRowOutOfRange)
        return "RowError";
    switch (error.family()) {
    case Family::Formula:
        return "FormulaError";
    case Family::Shape:
        return "ShapeError";
    case Family::DType:
        return "DTypeError";
    case Family::Argument:
        return "ArgumentError";
    case Family::OutOfMemory:
        return "OutOfMemory";
    case Family::Device:
        return "DeviceError";
    case Family::Cancelled:
        return "Cancelled";
    case Family::Internal:
    case Family::Warning:
        return "InternalError";
    }
    return "InternalError";
}

nb::object decode(std::string_view text) {
    return nb::steal(
        PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
}

/// Bytes of the formula to characters of the decoded string.
Py_ssize_t characters(const std::string& formula, std::uint32_t bytes) {
    return nb::len(decode(std::string_view(formula).substr(0, bytes)));
}

void raise(const char* name, std::string_view message,
           const std::string& formula, Span span, std::string_view code) {
    nb::object type = nb::module_::import_("tilefold.errors").attr(name);
    nb::object place = nb::make_tuple(characters(formula, span.begin),
                                      characters(formula, span.end));
    nb::object error =
        type(decode(message), decode(formula), place, decode(code));
    PyErr_SetObject(type.ptr(), error.ptr());
}

/// Tells of an allocation that failed, where nobody has a better message.
void out_of_memory() {
    raise("OutOfMemory", "out of memory", "", {}, "OutOfMemory");
}

Code code_of(std::string_view name) {
#define DIAGNOSTIC(code, family, found, cure)                                  \
    if (name == #code)                                                         \
        return Code::code;
#include "formulas/diagnostics.def"
#undef DIAGNOSTIC
    internal_error("no diagnostic is called " + std::string(name));
}

/// fail() takes its texts as a list; Python hands over any number up to 4.
void fail_with(const std::string& code, const nb::args& arguments) {
    std::array<std::string, 4> texts;
    if (arguments.size() > texts.size())
        internal_error("too many texts for " + code);
    for (std::size_t i = 0; i < arguments.size(); ++i)
        texts[i] = text_of(nb::object(arguments[i]));
    fail(code_of(code), {texts[0], texts[1], texts[2], texts[3]});
}

} // namespace

void rethrow_unrelated(nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError) ||
        error.matches(PyExc_OSError))
        throw std::move(error);
}

void forget_error() {
    if (!PyErr_Occurred())
        return;
    nb::python_error error;
    rethrow_unrelated(error);
}

std::string text_of(nb::handle object) {
    nb::object text = nb::steal(PyObject_Str(object.ptr()));
    Py_ssize_t size = 0;
    const char* bytes =
        text ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (bytes)
        return {bytes, std::size_t(size)};
    PyErr_Clear();
    return "?";
}

std::string type_of(nb::handle object) {
    if (object.is_none())
        return "None";
    nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
    std::string name =
        text_of(nb::object(nb::getattr(type, "__name__", nb::none())));
    bool vowel =
        std::string_view("aeiou").find(name[0]) != std::string_view::npos;
    return (vowel ? "an " : "a ") + name;
}

void set_error(const Error& error) {
    raise(class_name(error), error.what(), error.formula(), error.span(),
          error.code_name());
}

void set_current_error() noexcept {
    try {
        try {
            throw;
        } catch (nb::python_error& error) {
            error.restore();
        } catch (const Error& error) {
            if (!(error.family() == Family::Cancelled && PyErr_Occurred()))
                set_error(error);
        } catch (const std::bad_alloc&) {
            out_of_memory();
        } catch (const std::length_error&) { // more than any memory
            out_of_memory();
        } catch (const std::exception& error) {
            raise("InternalError", error.what(), "", {}, "InternalError");
        }
    } catch (nb::python_error& error) {
        error.restore();
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "tilefold: an unknown error");
    }
}

void bind_errors(nb::module_& module) {
    nb::register_exception_translator(
        [](const std::exception_ptr& pointer, void*) {
            try {
                std::rethrow_exception(pointer);
            } catch (const Error& error) {
                if (!(error.family() == Family::Cancelled && PyErr_Occurred()))
                    set_error(error);
            } catch (const std::bad_alloc&) {
                out_of_memory();
            } catch (const std::length_error&) { // more than any memory
                out_of_memory();
            }
        });
    module.def("fail", &fail_with, nb::arg("code"), nb::arg("texts"),
               nb::sig("def fail(code: str, *texts: object) -> "
                       "typing.NoReturn"),
               "Raises the error of a row of diagnostics.def.");
}

} // namespace tilefold::python
