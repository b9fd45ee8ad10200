// python_bindings/call.cpp - see call.h.
//
// A call of a few thousand pairs takes microseconds in all, so this path
// makes no Python object but the result, and no text.
#include "python_bindings/call.h"

#include "formulas/diagnostic.h"
#include "python_bindings/borrow_check.h"
#include "python_bindings/call_settings.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/python_state.h"
#include "python_bindings/result.h"
#include "runtime/session/inspect.h"

#include <nanobind/stl/vector.h>

namespace tilefold::python {

namespace {

std::string_view utf8(PyObject* text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes)
        throw nb::python_error();
    return {bytes, std::size_t(size)};
}

template <class T> T* setting(const char* name, PyObject* value) {
    T* result = nullptr;
    if (value == Py_None)
        return result;
    if (!nb::try_cast<T*>(nb::handle(value), result) || !result)
        fail(Code::BadOption, {name, type_of(value),
                               std::string("pass a tilefold.") +
                                   (name[0] == 's' ? "Session" : "Options")});
    return result;
}

std::shared_ptr<const Ranges> ranges_of(PyObject* value) {
    if (value == Py_None)
        return nullptr;
    nb::object lists = nb::getattr(nb::handle(value), "_lists", nb::none());
    RangesHandle* handle = nullptr;
    if (!nb::try_cast<RangesHandle*>(lists, handle) || !handle)
        fail(Code::BadOption,
             {"ranges", type_of(value), "pass a tilefold.Ranges"});
    return handle->ranges;
}

/// True or False, of Python or of NumPy.
bool truth_of(const char* name, PyObject* value) {
    const int truth = PySequence_Check(value) ? -1 : PyObject_IsTrue(value);
    if (truth < 0) {
        PyErr_Clear();
        fail(Code::BadOption, {name, type_of(value), "pass True or False"});
    }
    return truth == 1;
}

/// Reads one number, or several.
Extents dimensions_of(PyObject* value) {
    Extents dimensions;
    nb::handle given(value);
    if (given.is_none())
        return dimensions;
    std::int64_t one = 0;
    std::vector<std::int64_t> several;
    if (PyLong_CheckExact(value) && nb::try_cast(given, one))
        dimensions.push_back(one);
    else if (nb::isinstance<nb::sequence>(given) && !PyUnicode_Check(value) &&
             nb::try_cast(given, several))
        dimensions.assign(several.begin(), several.end());
    else
        fail(Code::BadOption,
             {"sum_batch", type_of(value),
              "pass the number of a batch dimension, or a tuple of them"});
    return dimensions;
}

/// How many dimensions are a batch's; nothing where that is not said.
std::optional<std::size_t> rank_of_batch(PyObject* value) {
    if (value == Py_None)
        return std::nullopt;
    std::size_t rank = 0;
    if (!PyLong_CheckExact(value) || !nb::try_cast(nb::handle(value), rank))
        fail(Code::BadOption,
             {"batch_rank", text_of(value),
              "pass the number of leading dimensions that are a batch's"});
    return rank;
}

/// What the waiting thread does every 50 ms: signals, then the progress
/// callback. False with a Python error set.
bool poll(nb::handle progress, double done, double total) {
    const GilAgain gil;
    if (PyErr_CheckSignals() != 0)
        return false;
    if (!progress.is_valid() || progress.is_none())
        return true;
    nb::object answer =
        nb::steal(PyObject_CallFunction(progress.ptr(), "dd", done, total));
    if (!answer)
        return false;
    return answer.ptr() != Py_False;
}

nb::handle progress_of(const FormulaHandle& formula, const Call& call) {
    if (call.options && call.options->progress.is_valid() &&
        !call.options->progress.is_none())
        return call.options->progress;
    return (call.session ? *call.session : *formula.session).progress();
}

} // namespace

bool Call::read_setting(std::string_view name, PyObject* given) {
#define CALL_SETTING(field, value)                                             \
    if (name == #field) {                                                      \
        field = value;                                                         \
        return true;                                                           \
    }
#include "python_bindings/call_settings.def"
    return false;
}

std::string_view key_text(PyObject* key) {
    if (!PyUnicode_Check(key))
        fail(Code::PositionalArgument,
             {"a mapping with " + type_of(key) + " as a key"});
    return utf8(key);
}

nb::object copy_of(PyObject* mapping) {
    const bool is_mapping =
        PyDict_Check(mapping) ||
        (PyMapping_Check(mapping) && PyObject_HasAttrString(mapping, "keys"));
    if (!is_mapping)
        fail(Code::PositionalArgument, {type_of(mapping)});
    nb::object copy = nb::steal(PyDict_New());
    if (PyDict_Update(copy.ptr(), mapping) != 0)
        throw nb::python_error();
    return copy;
}

void Call::read_mapping(PyObject* mapping) {
    mapping_ = copy_of(mapping);
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(mapping_.ptr(), &at, &key, &value);) {
        arguments.add(key_text(key), value);
        if (arguments.is_recorded())
            return;
    }
}

void Call::read(PyObject* positional, PyObject* keywords) {
    // The stream is read before arrays of a device are asked for.
    if (PyObject* given = keywords
                              ? PyDict_GetItem(keywords, python_state().options)
                              : nullptr)
        if (auto* set = setting<OptionsHandle>("options", given))
            arguments.use_stream(set->stream);
    if (positional)
        read_mapping(positional);
    if (!keywords || arguments.is_recorded())
        return;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value);) {
        std::string_view name = utf8(key);
        if (!read_setting(name, value))
            arguments.add(name, value);
        if (arguments.is_recorded())
            return;
    }
    if (accumulate && !out)
        fail(Code::AccumulateNeedsOut);
    if (batch_rank)
        arguments.say_batch(*batch_rank);
}

bool Call::read_unless_recorded(PyObject* positional, PyObject* keywords) {
    PyObject* const given =
        keywords ? PyDict_GetItem(keywords, python_state().out) : nullptr;
    if (!given || given == Py_None)
        arguments.allow_recorded();
    read(positional, keywords);
    return !arguments.is_recorded();
}

void Call::read_for_elements(nb::handle positional, nb::handle keywords) {
    read(positional.ptr(), keywords.ptr());
    if (ranges)
        fail(Code::RangesOfElements);
    if (!sum_batch.empty())
        fail(Code::SumBatchOf, {"elements of a kernel", "sum them yourself"});
}

namespace {

std::string names_of(const Formula& formula) {
    std::string text;
    for (const FreeName& name : formula.names())
        text += (text.empty() ? "" : ", ") + name.name;
    return text;
}

} // namespace

/// The one positional argument: a mapping of arrays.
PyObject* mapping_in(PyObject* positional, const Formula* formula) {
    const Py_ssize_t count = PyTuple_Size(positional);
    if (count > 1)
        fail(Code::SurplusArgument,
             {std::to_string(count), formula ? names_of(*formula) : "?"});
    return count == 1 ? PyTuple_GetItem(positional, 0) : nullptr;
}

std::string_view text_of_formula(PyObject* text, nb::object& holder) {
    if (PyBytes_Check(text)) {
        char* bytes = nullptr;
        Py_ssize_t size = 0;
        PyBytes_AsStringAndSize(text, &bytes, &size);
        return {bytes, std::size_t(size)};
    }
    if (!PyUnicode_Check(text))
        fail(Code::FormulaNotText, {type_of(text)});
    Py_ssize_t size = 0;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size))
        return {bytes, std::size_t(size)};
    PyErr_Clear(); // lone surrogates: bytes the parser refuses with a place
    holder =
        nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
    if (!holder)
        throw nb::python_error();
    return text_of_formula(holder.ptr(), holder);
}

Formula derived_as(Formula formula, const Derivation& derivation) {
    for (const DerivationStep& step : derivation)
        formula =
            step.kind == DerivationStep::Kind::Reverse
                ? formula.gradient(step.names, step.seed, step.keeps_values)
                : formula.jvp(step.names, step.seed);
    return formula;
}

Formula formula_for(const FormulaHandle& handle, const Call& call) {
    if (!call.options && !call.session) // as small calls are
        return handle.formula;
    static const Options unset;
    const Options& options = call.options ? call.options->options : unset;
    SessionHandle& named = call.session ? *call.session : *handle.session;
    const std::shared_ptr<const Session> session = named.with(options);
    const Formula& own = handle.formula;
    const Formula formula =
        session.get() == &handle.session->session()
            ? own
            : derived_as(session->formula(own.text()), derivation_of(own));
    return formula.with(options);
}

Poll poll_of(const FormulaHandle& formula, const Call& call) {
    nb::handle progress = progress_of(formula, call);
    return [progress](double done, double total) {
        return poll(progress, done, total);
    };
}

bool has_progress(const FormulaHandle& formula, const Call& call) {
    const nb::handle progress = progress_of(formula, call);
    return progress.is_valid() && !progress.is_none();
}

std::vector<nb::object> held_memory(const FormulaHandle& formula,
                                    const Call& call) {
    std::vector<nb::object> held;
    if (!has_progress(formula, call))
        return held;
    call.arguments.each_tensor(
        [&](std::string_view, PyObject* tensor) { hold_memory(tensor, held); });
    if (call.out && PyTuple_Check(call.out))
        for (Py_ssize_t k = 0; k < PyTuple_Size(call.out); ++k)
            hold_memory(PyTuple_GetItem(call.out, k), held);
    else if (call.out)
        hold_memory(call.out, held);
    return held;
}

namespace {

/// The parts of each result: 1, or 2 of a complex one.
std::vector<std::size_t> parts_of(const Bound& bound) {
    std::vector<std::size_t> parts;
    for (std::size_t r = 0; r < bound.results(); ++r)
        if (bound.is_imaginary(r))
            ++parts.back();
        else
            parts.push_back(1);
    return parts;
}

/// `out` of each result: the caller's one, or tuple of several.
std::vector<PyObject*> outs_of(const Call& call, std::size_t count) {
    if (!call.out || count == 1)
        return std::vector<PyObject*>(count, call.out);
    if (!PyTuple_Check(call.out) ||
        std::size_t(PyTuple_Size(call.out)) != count)
        fail(Code::BadOption,
             {"out", "one array for " + std::to_string(count) + " results",
              "pass a tuple of as many arrays"});
    std::vector<PyObject*> outs;
    for (std::size_t k = 0; k < count; ++k)
        outs.push_back(PyTuple_GetItem(call.out, Py_ssize_t(k)));
    return outs;
}

/// Formulas of several results give a tuple, and take one as `out`.
nb::object run_all(const Bound& bound, const Call& call, const RunOptions& run,
                   const CallStream& stream) {
    Results results(bound, call, run.stream);
    run_without_gil(bound, results.outputs(), run, stream);
    return results.each([](Result& result) { return result.take(); });
}

} // namespace

Results::Results(const Bound& bound, const Call& call, void* stream) {
    const std::vector<std::size_t> parts = parts_of(bound);
    const std::vector<PyObject*> given = outs_of(call, parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::size_t r = outputs_.size();
        const bool is_complex = parts[k] == 2;
        Result& result = results_.emplace_back();
        if (given[k])
            result.use(given[k], call.arguments.wanted(), is_complex);
        else
            result.make(bound, r, call.arguments.kind(), stream, is_complex);
        outputs_.push_back(result.output());
        if (is_complex)
            outputs_.push_back(result.imaginary());
    }
}

BindOptions options_of(const Call& call) {
    BindOptions options;
    options.ranges = call.ranges;
    options.sum_batch = {call.sum_batch.data(), call.sum_batch.size()};
    options.goes_on = no_signal;
    return options;
}

bool no_signal() {
    const GilAgain gil;
    return PyErr_CheckSignals() == 0;
}

Bound bound_of(const Formula& formula, const Call& call,
               const BindOptions& options) {
    return telling_settings(formula, call.arguments.views(), [&] {
        const WithoutGil released;
        return formula.bind(call.arguments.views(), options);
    });
}

void run_without_gil(const Bound& bound, std::span<const Output> outs,
                     const RunOptions& run, const CallStream& stream) {
    const WithoutGil released;
    bound.run(outs, run);
    if (stream.is_unknown)
        bound.finish(stream.handle);
}

nb::object run_call(const FormulaHandle& handle, const Call& call,
                    const BindOptions& options) {
    const Formula formula = formula_for(handle, call);
    const CallStream stream = call.arguments.stream();
    const RunOptions run{call.accumulate, poll_of(handle, call), stream.handle};
    const std::vector<nb::object> held = held_memory(handle, call);
    const Bound bound = bound_of(formula, call, options);
    if (bound.results() > 1)
        return run_all(bound, call, run, stream);
    Result result;
    if (call.out)
        result.use(call.out, call.arguments.wanted());
    else
        result.make(bound, 0, call.arguments.kind(), stream.handle);
    const Output& out = result.output();
    run_without_gil(bound, {&out, 1}, run, stream);
    return result.take();
}

} // namespace tilefold::python
