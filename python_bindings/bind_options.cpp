// python_bindings/bind_options.cpp - tilefold.Options.
#include "python_bindings/session_handle.h"
#include "python_bindings/text_caster.h"
#include "python_bindings/traverse.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/environment.h"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace tilefold::python {

namespace {

/// A text as it was given: nanobind makes optional strings where nothing may be
/// thrown.
using GivenText = std::optional<nb::str>;

/// What the constructor takes for an option of a type.
template <class Value> struct Taken {
    using Type = std::optional<Value>;
};
template <> struct Taken<std::string> {
    using Type = const GivenText&;
};
template <> struct Taken<double> {
    using Type = const nb::object&;
};

/// Reads a finite number that is not negative; text is none.
std::optional<double> tolerance_of(const nb::object& given) {
    if (given.is_none())
        return std::nullopt;
    const bool converts = PyNumber_Check(given.ptr()) != 0;
    const double number = converts ? PyFloat_AsDouble(given.ptr()) : -1;
    PyErr_Clear();
    if (!(std::isfinite(number) && number >= 0))
        fail(Code::BadOption, {"tolerance", nb::repr(given).c_str(),
                               "pass a number that is at least 0, such as "
                               "1e-6"});
    return number;
}

/// An option from what was given for it.
template <class Value>
void read(std::optional<Value>& option, const std::optional<Value>& given) {
    option = given;
}

void read(std::optional<std::string>& option, const GivenText& given) {
    if (given)
        option = nb::cast<std::string>(*given);
}

void read(std::optional<double>& option, const nb::object& given) {
    option = tolerance_of(given);
}

void set_options(OptionsHandle* self,
#define OPTION(name, scope, type, python, variable, doc) Taken<type>::Type name,
#include "runtime/core/options.def"
                 nb::object progress, nb::object stream) {
    if (threads && *threads < 1)
        fail(Code::BadOption,
             {"threads", std::to_string(*threads), "pass a positive number"});
    if (cache_size && *cache_size < 0)
        fail(Code::BadOption, {"cache_size", std::to_string(*cache_size),
                               "pass a number of bytes"});
    new (self) OptionsHandle;
    Options& options = self->options;
#define OPTION(name, scope, type, python, variable, doc)                       \
    read(options.name, name);
#include "runtime/core/options.def"
    options = normalised(std::move(options));
    self->progress = std::move(progress);
    self->stream = std::move(stream);
}

template <class Value>
void put(nb::dict& settings, const char* name,
         const std::optional<Value>& value) {
    if (value)
        settings[name] = *value;
}

/// What was set and is text or a number, by the keywords of the constructor.
nb::dict settings_of(const OptionsHandle& self) {
    const Options& options = self.options;
    nb::dict settings;
#define OPTION(name, scope, type, python, variable, doc)                       \
    put(settings, #name, options.name);
#include "runtime/core/options.def"
    return settings;
}

std::string options_repr(const OptionsHandle& self) {
    std::string text;
    for (const auto [name, value] : settings_of(self))
        text += (text.empty() ? "" : ", ") + nb::cast<std::string>(name) + "=" +
                nb::repr(value).c_str();
    return "tilefold.Options(" + text + ")";
}

/// A call of the class, which takes keywords only.
nb::tuple reduce_to_settings(const OptionsHandle& self) {
    nb::dict settings = settings_of(self);
    if (self.progress.is_valid())
        settings["progress"] = self.progress;
    if (self.stream.is_valid())
        settings["stream"] = self.stream;
    const nb::object partial =
        nb::module_::import_("functools")
            .attr("partial")(nb::type<OptionsHandle>(), **settings);
    return nb::make_tuple(partial, nb::tuple());
}

constexpr const char* options_doc =
    "Settings of a session, or of one call.\n\n"
    "Passed as ``Session(options)`` or ``options=``. What is left out comes\n"
    "from the variable of the environment that is named first, else from the\n"
    "default. Picklable, where the progress callback is.\n\n"
    "Parameters\n----------\n"
#define OPTION(name, scope, type, python, variable, doc)                       \
    #name " : " python ", optional\n    " variable doc "\n"
#include "runtime/core/options.def"
    "progress : callable, optional\n"
    "    Called as ``progress(done, total)``, in pairs of points, about every\n"
    "    50 ms of a long run; returning False cancels it.\n"
    "stream : object, optional\n"
    "    Of a GPU, for one call: a stream of PyTorch or CuPy, or its number;\n"
    "    else the one that is current in the arrays' library.\n\n"
    "Raises\n------\n"
    "ArgumentError\n"
    "    For a value out of range.\n"
    "DeviceError\n"
    "    For an instruction set that is not known.\n"
    "TypeError\n"
    "    For a value of another type, and for other names.\n\n"
    "See Also\n--------\n"
    "Session : what has them for all of its calls.\n\n"
    "Examples\n--------\n"
    ">>> options = tilefold.Options(threads=1, log=False)\n"
    ">>> options\n"
    "tilefold.Options(threads=1, log=False)\n"
    ">>> x = np.ones(3, np.float32)\n"
    ">>> single = tilefold.Options(tolerance=1e-6)\n"
    ">>> tilefold.reduce(\"sum_j x_i x_j\", x=x, options=single)\n"
    "array([3., 3., 3.], dtype=float32)";

/// None where it is not there.
nb::object given(const nb::object& value) {
    return value.is_valid() ? value : nb::none();
}

/// The signature of the constructor.
constexpr const char* signature =
    "def __init__(self, *, "
#define OPTION(name, scope, type, python, variable, doc)                       \
    #name ": " python " | None = None, "
#include "runtime/core/options.def"
    "progress: typing.Callable[[float, float], object] | None = None, "
    "stream: typing.Any = None) -> None";

} // namespace

void bind_options(nb::module_& module) {
    nb::class_<OptionsHandle> options(
        module, "Options", nb::type_slots(collected_slots<OptionsHandle>),
        nb::is_weak_referenceable(), options_doc);
    options.def("__init__", &set_options, nb::kw_only(),
#define OPTION(name, scope, type, python, variable, doc)                       \
    nb::arg(#name) = nb::none(),
#include "runtime/core/options.def"
                nb::arg("progress") = nb::none(),
                nb::arg("stream") = nb::none(), nb::sig(signature));
#define OPTION(name, scope, type, python, variable, doc)                       \
    options.def_prop_ro(                                                       \
        #name, [](const OptionsHandle& o) { return o.options.name; },          \
        "The option ``" #name "`` as it was given: " python " or None.");
#include "runtime/core/options.def"
    options
        .def_prop_ro(
            "progress",
            [](const OptionsHandle& o) { return given(o.progress); },
            nb::sig("def progress(self) -> "
                    "typing.Callable[[float, float], object] | None"),
            "The option ``progress`` as it was given: a callable or None.")
        .def_prop_ro(
            "stream", [](const OptionsHandle& o) { return given(o.stream); },
            nb::sig("def stream(self) -> typing.Any"),
            "The option ``stream`` as it was given, or None.");
    options.def("__repr__", &options_repr)
        .def("__reduce__", &reduce_to_settings,
             nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

} // namespace tilefold::python
