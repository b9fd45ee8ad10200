// python_bindings/bind_formula.cpp - tilefold.Formula: compile, call.
#include "formulas/names.h"
#include "formulas/readings.h"
#include "python_bindings/bind_program.h"
#include "python_bindings/call.h"
#include "python_bindings/call_settings.h"
#include "python_bindings/element_types.h"
#include "python_bindings/errors.h"
#include "python_bindings/session_caster.h"
#include "python_bindings/text_caster.h"
#include "runtime/session/inspect.h"
#include "runtime/session/kernel_algebra.h"
#include "runtime/session/kernel_shape.h"
#include "runtime/session/result_types.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tilefold::python {

FormulaHandle compile(nb::handle text,
                      const std::shared_ptr<SessionHandle>& session) {
    nb::object holder;
    auto chosen = session ? session : default_session();
    std::string_view bytes = text_of_formula(text.ptr(), holder);
    return {chosen, chosen->session().formula(bytes)};
}

namespace {

/// The call as the library of its arrays records it.
nb::object recorded_call(nb::handle formula, nb::handle positional,
                         nb::handle keywords) {
    // Found once: to import a module that is there takes a microsecond.
    static PyObject* call =
        nb::object(nb::module_::import_("tilefold.frameworks").attr("call"))
            .release()
            .ptr();
    const Py_ssize_t given = PyTuple_Size(positional.ptr());
    const nb::object all = nb::steal(PyTuple_New(given + 1));
    PyTuple_SetItem(all.ptr(), 0, nb::borrow(formula).release().ptr());
    for (Py_ssize_t k = 0; k < given; ++k)
        PyTuple_SetItem(
            all.ptr(), k + 1,
            nb::borrow(PyTuple_GetItem(positional.ptr(), k)).release().ptr());
    nb::object result =
        nb::steal(PyObject_Call(call, all.ptr(), keywords.ptr()));
    if (!result)
        throw nb::python_error();
    return result;
}

/// `formula(*positional, **keywords)`.
PyObject* call_formula(PyObject* self, PyObject* positional,
                       PyObject* keywords) {
    return slot([&] {
        const FormulaHandle& formula = instance<FormulaHandle>(self);
        Call call;
        if (!call.read_unless_recorded(mapping_in(positional, &formula.formula),
                                       keywords))
            return recorded_call(self, positional, keywords);
        return run_call(formula, call, options_of(call));
    });
}

nb::object bind(const FormulaHandle& handle, nb::args positional,
                nb::kwargs keywords) {
    return bind_call(handle, mapping_in(positional.ptr(), &handle.formula),
                     keywords.ptr());
}

/// Rows of a kernel's axis as Python hands them over: int64, contiguous.
std::optional<Rows> rows_of(nb::handle numbers, Pin& pin) {
    if (numbers.is_none())
        return std::nullopt;
    View view = view_of("rows", numbers.ptr(), pin);
    if (view.dtype != DType::I64 || view.shape.size() != 1 ||
        (view.strides[0] != 8 && view.shape[0] > 1))
        internal_error("rows of a kernel must be contiguous int64");
    return Rows{static_cast<const std::int64_t*>(view.data), view.shape[0]};
}

Query query_of(const std::string& name) {
    if (name == "diag")
        return Query::Diag;
    if (name == "pairs")
        return Query::Pairs;
    if (name == "dense")
        return Query::Dense;
    internal_error("unknown query " + name);
}

/// The pair term of a kernel: diag, listed pairs, or a dense block.
nb::object evaluate(const FormulaHandle& handle, nb::dict arguments,
                    const std::string& query, nb::object i, nb::object j,
                    nb::dict settings) {
    Pin i_pin, j_pin;
    Call call;
    call.read_for_elements(arguments, settings);
    BindOptions options = options_of(call);
    options.query = query_of(query);
    options.i = rows_of(i, i_pin);
    options.j = rows_of(j, j_pin);
    return run_call(handle, call, options);
}

nb::tuple tuple_of(const Extents& extents) {
    nb::list all;
    for (const std::int64_t extent : extents)
        all.append(extent);
    return nb::tuple(all);
}

/// (those of N and M that are read, the text with a number for D or "").
nb::tuple sizes_of(const FormulaHandle& handle, nb::dict arguments,
                   nb::dict settings) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    const OwnSizes sizes =
        own_sizes(formula_for(handle, call), call.arguments.views());
    return nb::make_tuple(nb::cast(sizes.points), sizes.text);
}

/// Fails where a call would before it runs.
void check_call(const FormulaHandle& handle, nb::dict arguments,
                nb::dict settings) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    bound_of(formula_for(handle, call), call, options_of(call));
}

/// (batch dimensions, points of i, points of j, components, dtype), -1 for
/// none.
nb::tuple shape_of_value(const FormulaHandle& handle, nb::dict arguments,
                         nb::dict settings) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    const Formula formula = formula_for(handle, call);
    constexpr std::string_view taken[] = {"session", "options", "ranges"};
    const ValueShape shape = telling_settings(
        formula, call.arguments.views(),
        [&] { return value_shape(formula, call.arguments.views()); }, taken);
    return nb::make_tuple(tuple_of(shape.batch), shape.i, shape.j,
                          shape.components,
                          numpy_name(shape.dtype, shape.is_complex));
}

using NamedResult = std::tuple<std::string, int, std::string, std::int64_t>;

/// Returns for each result (the argument whose shape it has or "", the axes it
/// keeps, dtype, components or -1 of a scalar). Only dtypes and shapes of the
/// arrays are read.
std::vector<NamedResult> types_of_results(const FormulaHandle& handle,
                                          nb::dict arguments, nb::dict settings,
                                          bool chosen) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    std::vector<NamedResult> results;
    for (const ResultType& type : result_types(formula_for(handle, call),
                                               call.arguments.views(), chosen))
        results.emplace_back(type.like, int(type.axes),
                             numpy_name(type.dtype, type.is_complex),
                             type.components);
    return results;
}

double count_pairs(const FormulaHandle& handle, nb::dict arguments) {
    Call call;
    call.read(arguments.ptr(), nullptr);
    return pairs_of(handle.formula, call.arguments.views());
}

/// The names of `f.grad("x")` or `f.grad(["x", "l"])`.
std::vector<std::string> names_in(nb::handle names) {
    std::vector<std::string> all;
    if (PyUnicode_Check(names.ptr())) {
        all.push_back(nb::cast<std::string>(names));
        return all;
    }
    bool are_names = PySequence_Check(names.ptr()) != 0;
    for (std::size_t k = 0; are_names && k < nb::len(names); ++k) {
        const nb::object name = names[k];
        are_names = PyUnicode_Check(name.ptr()) != 0;
        if (are_names)
            all.push_back(nb::cast<std::string>(name));
    }
    if (!are_names || all.empty())
        fail(Code::BadOption, {"names", text_of(names),
                               "pass the name of an argument, or several"});
    return all;
}

FormulaHandle gradient(const FormulaHandle& handle, nb::handle names,
                       const std::string& cotangent, bool value) {
    return {handle.session,
            handle.formula.gradient(names_in(names), cotangent, value)};
}

FormulaHandle jvp(const FormulaHandle& handle, nb::handle names,
                  const std::string& tangent) {
    return {handle.session, handle.formula.jvp(names_in(names), tangent)};
}

/// `start` and the first number with which no name of the formula begins.
std::string free_seed(const Formula& formula, const std::string& start) {
    const auto is_taken = [&](const std::string& seed) {
        return std::ranges::any_of(formula.names(), [&](const FreeName& name) {
            return name.name.starts_with(seed);
        });
    };
    int level = 1;
    while (is_taken(start + std::to_string(level)))
        ++level;
    return start + std::to_string(level);
}

/// The gradient by names, or the derivative along them, and the names of its
/// cotangents or tangents, which no argument has.
std::pair<FormulaHandle, std::vector<std::string>>
derived(const FormulaHandle& handle, nb::handle names, bool is_gradient) {
    const std::string seed =
        free_seed(handle.formula, is_gradient ? "grad" : "tan");
    FormulaHandle formula = is_gradient ? gradient(handle, names, seed, false)
                                        : jvp(handle, names, seed);
    const Derivation& steps = derivation_of(formula.formula);
    std::vector<std::string> seeds;
    for (const SeedRole& role : seeds_of(steps))
        if (role.step + 1 == steps.size())
            seeds.push_back(role.name);
    return {std::move(formula), std::move(seeds)};
}

std::vector<std::pair<std::string, int>> free_names(const FormulaHandle& h) {
    std::vector<std::pair<std::string, int>> names;
    for (const FreeName& name : h.formula.names())
        names.emplace_back(name.name, int(name.axes));
    return names;
}

std::string free_name(const FormulaHandle& handle, const std::string& wish) {
    return unused_name(handle.formula, wish);
}

/// (the name as the formula has it, the axes it is read on)
std::pair<std::string, int> axes_of_name(const FormulaHandle& handle,
                                         const std::string& name) {
    const std::string known = normalise_name(name);
    for (const FreeName& free : handle.formula.names())
        if (free.name == known)
            return {known, int(free.axes)};
    return {known, 0};
}

using Declared = std::map<std::string, int>; ///< the axes of names

/// The formula's names, where some are declared to be on other axes than the
/// text has them on.
std::vector<FreeName> names_declared(const FormulaHandle& handle,
                                     const Declared& declared) {
    const std::span<const FreeName> free = handle.formula.names();
    std::vector<FreeName> names(free.begin(), free.end());
    for (FreeName& name : names)
        if (const auto found = declared.find(name.name);
            found != declared.end())
            name.axes = Axes(found->second);
    return names;
}

/// The axes of the formula's own result.
int axes_of_own_result(const FormulaHandle& handle, const Declared& declared) {
    return int(axes_of_result(tree_of(handle.formula),
                              names_declared(handle, declared)));
}

std::string subscripted_text(const FormulaHandle& handle,
                             const Declared& declared) {
    return with_axes(handle.formula, names_declared(handle, declared));
}

/// The arguments that the results are like; "" for the formula's own.
std::vector<std::string> result_names(const FormulaHandle& handle) {
    std::vector<std::string> names;
    for (const ResultRole& role : results_of(derivation_of(handle.formula)))
        names.push_back(role.argument);
    return names;
}

/// Returns for each cotangent and tangent (its name, the argument or seed that
/// it is like, "" for the formula's own result).
std::vector<std::pair<std::string, std::string>>
seed_names(const FormulaHandle& handle) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const SeedRole& role : seeds_of(derivation_of(handle.formula)))
        names.emplace_back(role.name, role.argument);
    return names;
}

std::string diagonal_text(const FormulaHandle& handle) {
    return diagonal(handle.formula);
}

using NamedTerm = std::tuple<std::string, FormulaHandle, Renamed>;

std::string substituted_text(const FormulaHandle& handle,
                             const std::vector<NamedTerm>& terms) {
    std::vector<Operand> operands;
    for (const auto& [name, term, renamed] : terms)
        operands.push_back({name, term.formula, renamed});
    return substitute(handle.formula, operands);
}

std::string applied_text(const FormulaHandle& handle,
                         const std::string& function) {
    return applied(handle.formula, function);
}

std::string selected_text(const FormulaHandle& handle, int axis,
                          const Renamed& renamed, const std::string& list,
                          const std::string& start, const std::string& step,
                          const std::string& base, int digits) {
    return select(handle.formula, Axes(axis), renamed,
                  {list, start, step, base, digits});
}

bool formula_reads_index(const FormulaHandle& handle, int axis) {
    return reads_index(handle.formula, Axes(axis));
}

/// Whether it has no reduction, and a value for each pair.
bool is_pair_term(const FormulaHandle& handle) {
    const ast::Formula& tree = tree_of(handle.formula);
    const bool reduces =
        std::ranges::find(tree.nodes, ast::Kind::Reduce, &ast::Node::kind) !=
        tree.nodes.end();
    return !reduces && axes_of_result(tree, handle.formula.names()) == Axes::IJ;
}

std::string transposed_text(const FormulaHandle& handle) {
    return transpose(handle.formula);
}

nb::str formula_repr(const FormulaHandle& handle) {
    std::string text =
        "tilefold.Formula: " + print_readings(tree_of(handle.formula));
    for (const DerivationStep& step : derivation_of(handle.formula)) {
        text += step.kind == DerivationStep::Kind::Reverse
                    ? "; its gradient by "
                    : "; its derivative along ";
        for (std::size_t k = 0; k < step.names.size(); ++k)
            text += (k ? ", " : "") + step.names[k];
    }
    return nb::str(text.data(), text.size());
}

nb::object typed_text(const FormulaHandle& handle) {
    const std::string& text = handle.formula.text();
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()),
                                          "surrogatepass"));
}

/// A formula and its derivatives as text, numbers and names, and its session.
nb::object reduce_to_text(const FormulaHandle& handle) {
    nb::list steps;
    for (const DerivationStep& step : derivation_of(handle.formula))
        steps.append(nb::make_tuple(int(step.kind), step.names, step.seed,
                                    step.keeps_values));
    nb::object session = handle.session == default_session()
                             ? nb::none()
                             : nb::cast(handle.session);
    return nb::make_tuple(nb::type<FormulaHandle>(),
                          nb::make_tuple(typed_text(handle), steps, session));
}

using PickledStep =
    std::tuple<int, std::vector<std::string>, std::string, bool>;

void make_formula(FormulaHandle* self, nb::handle text,
                  const std::vector<PickledStep>& derivation,
                  const std::shared_ptr<SessionHandle>& session) {
    FormulaHandle handle = compile(text, session);
    Derivation steps;
    for (const auto& [kind, names, seed, value] : derivation)
        steps.push_back({DerivationStep::Kind(kind), names, value, seed});
    handle.formula = derived_as(handle.formula, steps);
    new (self) FormulaHandle(std::move(handle));
}

PyType_Slot formula_slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(&call_formula)},
    {0, nullptr},
};

constexpr const char* formula_doc =
    R"(A formula, parsed, that is called with arrays any number of times.

Made by ``tilefold.compile``. Calls take arrays by the names of the formula, or
one mapping of them. Thread-safe and picklable.

Arrays on i or j have shape (N,), (N, D) or (..., N, D), parameters (), (D,),
(R, C) or (..., R, C), with batch dimensions that broadcast; a batch of numbers
ends in 1. Results belong to the library of the arrays, NumPy in, NumPy out,
and have NumPy's promotion of the arrays on i and j, but for those that are
only subscripts: at least float32, of float16 and bfloat16, too, and so have
gradients; what counts integers, or adds them up, is int64 or float64.

Keywords of a call that are no arguments:

``out``
    An array for the result, which is returned.
``accumulate``
    True adds to ``out``.
``session``, ``options``
    Whose threads and kernels it has; ``Options`` of this call.
``ranges``
    ``Ranges``: which pairs meet.
``sum_batch``
    The batch dimensions over which results are summed.
``batch_rank``
    How many first dimensions of every array are a batch's, so that (B, N) is
    a batch of numbers and need not end in 1.

Parameters
----------
text : str or bytes
    The formula.
derivation : sequence, optional
    The derivatives that were taken, as pickles hold them.
session : Session, optional
    Whose threads, options and kernels calls have; the default one.

Raises
------
FormulaError
    Where the text cannot be read, or reads two ways; with a caret.

See Also
--------
compile, reduce, Bound

Examples
--------
>>> f = tilefold.compile("sum_j exp(-|x_i - y_j|²/2l²) b_j")
>>> x, y, b = np.zeros((4, 3)), np.zeros((5, 3), np.float32), np.ones(5)
>>> f(x=x, y=y, b=b, l=0.5)
array([5., 5., 5., 5.])
>>> lengths = np.array([1.0, 2.0]).reshape(2, 1, 1)
>>> f(x=np.stack([x, x]), y=y, b=b, l=lengths).shape
(2, 4))";

void bind_functions(nb::module_& module) {
    module.def("compile", &compile, nb::arg("formula"), nb::kw_only(),
               nb::arg("session").none() = nb::none(),
               nb::sig("def compile(formula: str | bytes, *, "
                       "session: Session | None = None) -> Formula"),
               "Parses a formula; see tilefold.compile.");
}

/// What kernels ask of their pair term.
void bind_pair_term(nb::class_<FormulaHandle>& formula) {
    formula
        .def("_evaluate", &evaluate,
             nb::sig("def _evaluate(self, arguments: "
                     "dict[str, typing.Any], query: str, i: typing.Any, "
                     "j: typing.Any, settings: dict[str, typing.Any]) -> "
                     "typing.Any"),
             nb::arg("arguments"), nb::arg("query"), nb::arg("i").none(),
             nb::arg("j").none(), nb::arg("settings"))
        .def("_own_sizes", &sizes_of,
             nb::sig("def _own_sizes(self, arguments: "
                     "dict[str, typing.Any], settings: "
                     "dict[str, typing.Any]) -> tuple[list[str], str]"))
        .def("_check_call", &check_call,
             nb::sig("def _check_call(self, arguments: "
                     "dict[str, typing.Any], settings: "
                     "dict[str, typing.Any]) -> None"))
        .def("_value_shape", &shape_of_value,
             nb::sig("def _value_shape(self, arguments: "
                     "dict[str, typing.Any], settings: "
                     "dict[str, typing.Any]) -> "
                     "tuple[tuple[int, ...], int, int, int, str]"))
        .def("_result_types", &types_of_results, nb::arg("arguments"),
             nb::arg("settings"), nb::arg("chosen") = false,
             nb::sig("def _result_types(self, arguments: "
                     "dict[str, typing.Any], settings: "
                     "dict[str, typing.Any], chosen: bool = False) -> "
                     "list[tuple[str, int, str, int]]"))
        .def("_pairs", &count_pairs,
             nb::sig("def _pairs(self, arguments: "
                     "dict[str, typing.Any]) -> float"))
        .def("_substitute", &substituted_text, nb::arg("terms"),
             nb::sig("def _substitute(self, terms: typing.Sequence[tuple[str, "
                     "Formula, dict[str, str]]]) -> str"))
        .def("_select", &selected_text, nb::arg("axis"), nb::arg("renamed"),
             nb::arg("list"), nb::arg("start"), nb::arg("step"),
             nb::arg("base") = "", nb::arg("digits") = 1)
        .def("_reads_index", &formula_reads_index, nb::arg("axis"))
        .def("_applied", &applied_text, nb::arg("function"))
        .def("_transpose", &transposed_text)
        .def("_diagonal", &diagonal_text)
        .def("_unused_name", &free_name, nb::arg("wish") = "b")
        .def("_axes_of", &axes_of_name, nb::arg("name"))
        .def("_axes_of_result", &axes_of_own_result, nb::arg("declared"))
        .def("_with_axes", &subscripted_text, nb::arg("declared"));
}

} // namespace

void bind_formula(nb::module_& module) {
    nb::class_<FormulaHandle> formula(module, "Formula",
                                      nb::type_slots(formula_slots),
                                      nb::is_weak_referenceable(), formula_doc);
    bind_pair_term(formula);
    bind_explain(module, formula);
    bind_program(formula);
    formula
        .def("__init__", &make_formula, nb::arg("text"),
             nb::arg("derivation") = std::vector<PickledStep>(),
             nb::arg("session").none() = nb::none(),
             nb::sig("def __init__(self, text: str | bytes, derivation: "
                     "typing.Sequence[tuple[int, list[str], str, bool]] = ..., "
                     "session: Session | None = None) -> None"))
        .def_prop_ro("text", &typed_text, nb::sig("def text(self) -> str"),
                     "The text as it was given: a str.")
        .def_prop_ro("names", &free_names,
                     "Arguments and their axes: 0 none, 1 i, 2 j, 3 both.")
        .def("bind", &bind, nb::arg("args"), nb::arg("kwargs"),
             nb::sig("def bind(self, arguments: "
                     "typing.Mapping[str, typing.Any] = ..., /, "
                     "**arrays: typing.Any) -> Bound"),
             "Shown as that of methods.py.")
        .def("grad", &gradient, nb::arg("names"), nb::kw_only(),
             nb::arg("cotangent") = "grad", nb::arg("value") = false,
             nb::sig("def grad(self, names: str | typing.Sequence[str], *, "
                     "cotangent: str = 'grad', value: bool = False) -> "
                     "Formula"),
             "Shown as that of methods.py.")
        .def("jvp", &jvp, nb::arg("names"), nb::kw_only(),
             nb::arg("tangent") = "tangent",
             nb::sig("def jvp(self, names: str | typing.Sequence[str], *, "
                     "tangent: str = 'tangent') -> Formula"),
             "Shown as that of methods.py.")
        .def("_derive", &derived, nb::arg("names"), nb::arg("is_gradient"),
             nb::sig("def _derive(self, names: typing.Sequence[str], "
                     "is_gradient: bool) -> tuple[Formula, list[str]]"))
        .def_prop_ro("_results", &result_names)
        .def_prop_ro("_seeds", &seed_names)
        .def_prop_ro("_is_pair_term", &is_pair_term)
        .def("__repr__", &formula_repr)
        .def("__reduce__", &reduce_to_text,
             nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
    bind_functions(module);
}

} // namespace tilefold::python
