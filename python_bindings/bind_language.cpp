// python_bindings/bind_language.cpp - the tables of the language as lists,
// for `tilefold formulas`.
#include "formulas/catalogue.h"
#include "python_bindings/call.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

Rows operations() {
    return {
#define OP(name, spelling, keops, arity, shape, result, range, cost, doc)      \
    {spelling, doc},
#include "compiler/ops.def"
#undef OP
    };
}

Rows functions() {
    return {
#define SUGAR(spelling, keops, parameters, body, doc) {spelling, doc},
#include "compiler/sugar.def"
#undef SUGAR
    };
}

Rows reductions() {
    return {
#define REDUCTION(name, spelling, keops, least, most, monoid, result, finish,  \
                  empty, doc)                                                  \
    {spelling, doc},
#include "compiler/reductions.def"
#undef REDUCTION
    };
}

Rows named() {
    Rows rows;
    for (const NamedFormula& formula : catalogue)
        rows.emplace_back(formula.name, std::string(formula.formula) + "  (" +
                                            std::string(formula.doc) + ")");
    return rows;
}

std::vector<std::pair<std::string, Rows>> language() {
    return {{"operations", operations()},
            {"functions made of them", functions()},
            {"reductions, with _i, _j or _ij", reductions()},
            {"formulas to start from, with x on i and y on j", named()}};
}

} // namespace

void bind_language(nb::module_& module) {
    module.def("language", &language,
               "(title, [(spelling, meaning), …]) for each table.");
}

} // namespace tilefold::python
