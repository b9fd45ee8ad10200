// python_bindings/bind_solve.cpp - linear systems with kernels.
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/kernel_shape.h"
#include "python_bindings/result.h"
#include "runtime/kernel_solve.h"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

namespace tilefold::python {

namespace {

double number_of(const char* name, nb::handle value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(Code::BadOption, {name, type_of(value), "pass a number"});
    }
    return number;
}

Preconditioner preconditioner_of(nb::handle value) {
    if (value.is_none())
        return Preconditioner::None;
    const std::string name = text_of(value);
    if (name == "auto")
        return Preconditioner::Auto;
    if (name == "none")
        return Preconditioner::None;
    if (name == "cholesky" || name == "pivoted_cholesky")
        return Preconditioner::Cholesky;
    if (name == "nystrom")
        return Preconditioner::Nystrom;
    fail(Code::BadOption, {"preconditioner", "'" + name + "'",
                           "pass 'auto', None, 'cholesky' or 'nystrom'"});
}

Method method_of(nb::handle value) {
    const std::string name = text_of(value);
    if (name == "cg")
        return Method::ConjugateGradients;
    if (name == "minres")
        return Method::MinimalResiduals;
    if (name == "auto")
        return Method::Auto;
    fail(Code::BadOption,
         {"method", "'" + name + "'", "pass 'cg', 'minres' or 'auto'"});
}

SolveOptions options_of(nb::dict given) {
    SolveOptions options;
    options.ridge = number_of("ridge", given["ridge"]);
    options.rtol = number_of("rtol", given["rtol"]);
    options.preconditioner = preconditioner_of(given["preconditioner"]);
    options.method = method_of(given["method"]);
    nb::object maxiter = given["maxiter"];
    std::int64_t count = 0;
    if (!maxiter.is_none()) {
        if (!nb::try_cast<std::int64_t>(maxiter, count))
            fail(Code::BadOption, {"maxiter", type_of(maxiter),
                                   "pass a whole number, 1 or above"});
        options.maxiter = count;
    }
    check_options(options);
    return options;
}

std::vector<NamedView> without(const Call& call, const std::string& name) {
    std::vector<NamedView> views;
    for (const NamedView& view : call.arguments.views())
        if (view.name != name)
            views.push_back(view);
    return views;
}

nb::list list_of(const std::vector<double>& numbers) {
    nb::list list;
    for (const double number : numbers)
        list.append(number);
    return list;
}

/// (x, iterations, residuals, converged, rank, warning)
nb::object solve(const FormulaHandle& product, const FormulaHandle& pair,
                 nb::dict arguments, const std::string& side, nb::dict settings,
                 nb::dict given) {
    const SolveOptions options = options_of(given);
    Call call;
    call.read_for_elements(arguments, settings);
    const Formula term = formula_for(pair, call);
    const Formula formula = formula_for(product, call);
    const Extents shape = kernel_shape(term, without(call, side));
    const Poll poll = poll_of(product, call);
    std::optional<KernelSystem> system;
    Solution solution;
    {
        nb::gil_scoped_release released;
        system.emplace(formula, term, shape, call.arguments.views(), side);
        solution = system->solve(options, poll);
    }
    Result x;
    x.allocate(call.arguments.kind(), system->dtype(), system->shape());
    system->store(solution, x.output());
    return nb::make_tuple(x.take(), solution.iterations,
                          list_of(solution.residuals),
                          solution.worst() == Outcome::Converged, solution.rank,
                          system->warning(solution, options));
}

} // namespace

void bind_solve(nb::module_& module) {
    module.def("_solve", &solve, nb::arg("product"), nb::arg("pair"),
               nb::arg("arguments"), nb::arg("side"), nb::arg("settings"),
               nb::arg("options"),
               nb::sig("def _solve(product: Formula, pair: Formula, "
                       "arguments: dict[str, typing.Any], side: str, "
                       "settings: dict[str, typing.Any], "
                       "options: dict[str, typing.Any]) -> "
                       "tuple[typing.Any, int, list[float], bool, int, str]"));
}

} // namespace tilefold::python
