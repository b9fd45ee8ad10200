// python_bindings/bind_solve.cpp - linear systems with kernels.
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/result.h"
#include "python_bindings/solve_options.h"
#include "python_bindings/text_caster.h"
#include "runtime/solve/kernel_solve.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

double number_of(const char* name, nb::handle value,
                 const char* cure = "pass a number") {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(Code::BadOption, {name, type_of(value), cure});
    }
    return number;
}

double ridge_of(nb::dict given) {
    return number_of("ridge", given["ridge"],
                     "pass a number; K.add_diag(…) adds one for each point");
}

Preconditioner preconditioner_of(nb::handle value) {
    return value.is_none() ? Preconditioner::None
                           : preconditioner_named(text_of(value));
}

/// None where nothing is said.
std::optional<std::int64_t> count_of(const char* name, nb::handle value,
                                     const char* cure) {
    std::int64_t count = 0;
    if (value.is_none())
        return std::nullopt;
    if (!nb::try_cast<std::int64_t>(value, count))
        fail(Code::BadOption, {name, type_of(value), cure});
    return count;
}

SolveOptions options_of(nb::dict given) {
    SolveOptions options;
    options.ridge = ridge_of(given);
    options.rtol = number_of("rtol", given["rtol"]);
    options.preconditioner = preconditioner_of(given["preconditioner"]);
    options.method = method_named(text_of(given["method"]));
    options.maxiter = count_of("maxiter", given["maxiter"],
                               "pass a whole number, 1 or above");
    options.rank =
        count_of("rank", given["rank"], "pass a whole number, 1 or above");
    check_options(options);
    return options;
}

LogdetOptions logdet_options_of(nb::dict given) {
    LogdetOptions options;
    options.ridge = ridge_of(given);
    options.preconditioner = preconditioner_of(given["preconditioner"]);
    options.maxiter = count_of("maxiter", given["maxiter"],
                               "pass a whole number, 1 or above");
    options.probes =
        count_of("probes", given["probes"], "pass a whole number, 2 or above")
            .value_or(options.probes);
    options.seed = std::uint64_t(
        count_of("seed", given["seed"], "pass a whole number").value_or(0));
    check_options(options);
    return options;
}

nb::list list_of(const std::vector<double>& numbers) {
    nb::list list;
    for (const double number : numbers)
        list.append(number);
    return list;
}

/// The formulas of K · b, of K or its real parts, and of its imaginary parts.
struct Formulas {
    const FormulaHandle& product;
    const FormulaHandle& pair;
    const FormulaHandle* imaginary; ///< null: K is real

    SystemFormulas in(const Call& call) const {
        SystemFormulas formulas{formula_for(product, call),
                                formula_for(pair, call)};
        if (imaginary)
            formulas.imaginary = formula_for(*imaginary, call);
        return formulas;
    }
};

/// (x, iterations, residuals, converged, rank, warning)
nb::object solve_system(const FormulaHandle& product, const FormulaHandle& pair,
                        const FormulaHandle* imaginary, nb::dict arguments,
                        const std::string& side, nb::dict settings,
                        nb::dict given) {
    const SolveOptions options = options_of(given);
    Call call;
    call.read_for_elements(arguments, settings);
    SystemFormulas formulas = Formulas{product, pair, imaginary}.in(call);
    const auto views = call.arguments.views();
    const Extents shape = shape_of_kernel(formulas.pair, without(views, side));
    const Poll poll = poll_of(product, call);
    const std::vector<nb::object> held = held_memory(product, call);
    std::optional<KernelSystem> system;
    Solution solution;
    {
        const WithoutGil released;
        system.emplace(std::move(formulas), shape, views, side, no_signal);
        solution = system->solve(options, poll);
    }
    Result x;
    x.allocate(call.arguments.kind(), system->dtype(), system->shape(),
               system->is_complex());
    system->store(solution, x.output(), x.imaginary());
    return nb::make_tuple(x.take(), solution.iterations,
                          list_of(solution.residuals),
                          solution.worst() == SolveStatus::Converged,
                          solution.rank, system->warning(solution, options));
}

/// (value, error, probes, steps, rank, quadratics or None, warning)
nb::object log_determinant(const FormulaHandle& product,
                           const FormulaHandle& pair,
                           const FormulaHandle* imaginary, nb::dict arguments,
                           const std::string& side, nb::dict settings,
                           nb::dict given) {
    const LogdetOptions options = logdet_options_of(given);
    Call call;
    call.read_for_elements(arguments, settings);
    SystemFormulas formulas = Formulas{product, pair, imaginary}.in(call);
    const auto given_views = call.arguments.views();
    std::vector<NamedView> views(given_views.begin(), given_views.end());
    const Extents shape = shape_of_kernel(formulas.pair, without(views, side));
    const bool has_side = arguments.contains(side.c_str());
    const std::vector<double> zeros(has_side ? 0 : std::size_t(shape.front()));
    if (!has_side)
        views.push_back(
            {side, View::of(zeros.data(), DType::F64, {shape.front()}), {}});
    const Poll poll = poll_of(product, call);
    const std::vector<nb::object> held = held_memory(product, call);
    LogDeterminant found;
    {
        const WithoutGil released;
        found = KernelSystem(std::move(formulas), shape, views, side, no_signal)
                    .log_determinant(options, poll);
    }
    return nb::make_tuple(
        found.value, found.error, found.probes, found.steps, found.rank,
        found.is_exact() ? nb::object(list_of(found.quadratics)) : nb::none(),
        warning_of(found));
}

} // namespace

void bind_solve(nb::module_& module) {
    module.def("_solve", &solve_system, nb::arg("product"), nb::arg("pair"),
               nb::arg("imaginary").none(), nb::arg("arguments"),
               nb::arg("side"), nb::arg("settings"), nb::arg("options"),
               nb::sig("def _solve(product: Formula, pair: Formula, "
                       "imaginary: Formula | None, "
                       "arguments: dict[str, typing.Any], side: str, "
                       "settings: dict[str, typing.Any], "
                       "options: dict[str, typing.Any]) -> "
                       "tuple[typing.Any, int, list[float], bool, int, str]"));
    module.def(
        "_log_determinant", &log_determinant, nb::arg("product"),
        nb::arg("pair"), nb::arg("imaginary").none(), nb::arg("arguments"),
        nb::arg("side"), nb::arg("settings"), nb::arg("options"),
        nb::sig("def _log_determinant(product: Formula, pair: Formula, "
                "imaginary: Formula | None, "
                "arguments: dict[str, typing.Any], side: str, "
                "settings: dict[str, typing.Any], "
                "options: dict[str, typing.Any]) -> "
                "tuple[float, float, int, int, int, list[float] | None, str]"));
}

} // namespace tilefold::python
