// python_bindings/solve_options.cpp - see solve_options.h.
#include "python_bindings/solve_options.h"

#include "formulas/diagnostic.h"

namespace tilefold::python {

Preconditioner preconditioner_named(const std::string& name) {
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

Method method_named(const std::string& name) {
    if (name == "cg")
        return Method::ConjugateGradients;
    if (name == "minres")
        return Method::MinimalResiduals;
    if (name == "auto")
        return Method::Auto;
    fail(Code::BadOption,
         {"method", "'" + name + "'", "pass 'cg', 'minres' or 'auto'"});
}

std::vector<NamedView> without(std::span<const NamedView> arguments,
                               std::string_view name) {
    std::vector<NamedView> views;
    for (const NamedView& view : arguments)
        if (view.name != name)
            views.push_back(view);
    return views;
}

} // namespace tilefold::python
