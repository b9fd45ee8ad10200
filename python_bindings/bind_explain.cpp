// python_bindings/bind_explain.cpp - what is told of a formula beside its
// results: stages, plans, and how exact it was.
#include "python_bindings/call.h"
#include "python_bindings/call_settings.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/text_caster.h"
#include "runtime/session/inspect.h"

#include <string>
#include <vector>

namespace tilefold::python {

namespace {

/// Takes the keyword `gpu` out of `keywords`: "" where it is not given, else
/// an architecture.
std::string take_gpu(nb::kwargs& keywords) {
    if (!keywords.contains("gpu"))
        return "";
    nb::object value = keywords["gpu"];
    if (!nb::isinstance<nb::str>(value))
        fail(Code::BadOption, {"gpu", text_of(value),
                               "pass an architecture, such as gpu='sm_90'"});
    nb::del(keywords["gpu"]);
    return nb::cast<std::string>(value);
}

/// Takes the keyword `format` out of `keywords`: whether it is "json".
bool take_json(nb::kwargs& keywords) {
    if (!keywords.contains("format"))
        return false;
    const std::string format = text_of(keywords["format"]);
    if (format != "text" && format != "json")
        fail(Code::BadOption,
             {"format", "'" + format + "'", "pass 'text' or 'json'"});
    nb::del(keywords["format"]);
    return format == "json";
}

nb::str explain(const FormulaHandle& handle, nb::args positional,
                nb::kwargs keywords) {
    const std::string gpu = take_gpu(keywords);
    const bool is_json = take_json(keywords);
    Call call;
    call.read(mapping_in(positional.ptr(), &handle.formula), keywords.ptr());
    const Formula formula = formula_for(handle, call);
    const std::string text =
        telling_settings(formula, call.arguments.views(), [&] {
            const WithoutGil released;
            const BindOptions options = options_of(call);
            const auto views = call.arguments.views();
            const auto stages =
                gpu.empty() ? formula.explain(views, options)
                            : formula.explain_for_gpu(views, gpu, options);
            return is_json ? json_of(formula.text(), stages) : joined(stages);
        });
    return nb::str(text.data(), text.size());
}

/// Texts that Options(plan=…) takes.
nb::list plans(const FormulaHandle& handle, nb::args positional,
               nb::kwargs keywords) {
    Call call;
    call.read(mapping_in(positional.ptr(), &handle.formula), keywords.ptr());
    const Formula formula = formula_for(handle, call);
    const std::vector<std::string> all =
        telling_settings(formula, call.arguments.views(), [&] {
            const WithoutGil released;
            return formula.plans(call.arguments.views(), options_of(call));
        });
    nb::list texts;
    for (const std::string& text : all)
        texts.append(nb::str(text.data(), text.size()));
    return texts;
}

/// Takes the keyword `rows` out of `keywords`; 64 where it is not given.
std::int64_t take_rows(nb::kwargs& keywords) {
    if (!keywords.contains("rows"))
        return 64;
    std::int64_t rows = 0;
    nb::object value = keywords["rows"];
    if (!nb::try_cast<std::int64_t>(value, rows) || rows < 1)
        fail(Code::BadOption,
             {"rows", text_of(value), "pass a positive number of rows"});
    nb::del(keywords["rows"]);
    return rows;
}

double check(const FormulaHandle& handle, nb::args positional,
             nb::kwargs keywords) {
    std::int64_t rows = take_rows(keywords);
    Call call;
    call.read(mapping_in(positional.ptr(), &handle.formula), keywords.ptr());
    const Bound bound =
        bound_of(formula_for(handle, call), call, options_of(call));
    if (!bound.location().is_host())
        fail(Code::HostOnly, {"check", spelling_of(bound.location())});
    const Results results(bound, call, nullptr);
    const std::vector<nb::object> held = held_memory(handle, call);
    const WithoutGil released;
    bound.run(results.outputs(), {.poll = poll_of(handle, call)});
    return bound.check(results.outputs(), rows, no_signal);
}

/// tilefold.explain(text, mapping?, **keywords)
nb::str explain_text(nb::args positional, nb::kwargs keywords) {
    if (positional.size() == 0)
        fail(Code::FormulaNotText, {"nothing"});
    FormulaHandle handle = compile(positional[0], nullptr);
    nb::object rest = nb::steal(
        PyTuple_GetSlice(positional.ptr(), 1, Py_ssize_t(positional.size())));
    return explain(handle, nb::borrow<nb::args>(rest), keywords);
}

} // namespace

void bind_explain(nb::module_& module, nb::class_<FormulaHandle>& formula) {
    module.def("explain", &explain_text, nb::arg("args"), nb::arg("kwargs"),
               nb::sig("def explain(formula: str | bytes, "
                       "arguments: typing.Mapping[str, typing.Any] = ..., /, "
                       "*, gpu: str = ..., format: str = ..., "
                       "**arrays: typing.Any) -> str"),
               "See tilefold.explain.");
    formula
        .def("explain", &explain, nb::arg("args"), nb::arg("kwargs"),
             nb::sig("def explain(self, arguments: "
                     "typing.Mapping[str, typing.Any] = ..., /, *, "
                     "gpu: str = ..., format: str = ..., "
                     "**arrays: typing.Any) -> str"),
             "Shown as that of methods.py.")
        .def("plans", &plans, nb::arg("args"), nb::arg("kwargs"),
             nb::sig("def plans(self, arguments: "
                     "typing.Mapping[str, typing.Any] = ..., /, "
                     "**arrays: typing.Any) -> list[str]"),
             "Shown as that of methods.py.")
        .def("check", &check, nb::arg("args"), nb::arg("kwargs"),
             nb::sig("def check(self, arguments: "
                     "typing.Mapping[str, typing.Any] = ..., /, *, "
                     "rows: int = 64, **arrays: typing.Any) -> float"),
             "Shown as that of methods.py.");
}

} // namespace tilefold::python
