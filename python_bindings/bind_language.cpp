// python_bindings/bind_language.cpp - the tables of the language as lists,
// for `tilefold formulas`.
#include "compiler/vocabulary.h"
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

/// Spelling and meaning of each row of a table.
template <class Table> Rows described(const Table& table) {
    Rows rows;
    for (const auto& row : table)
        rows.emplace_back(row.spelling, row.doc);
    return rows;
}

Rows functions() {
    return {
#define SUGAR(spelling, keops, parameters, body, doc) {spelling, doc},
#include "compiler/sugar.def"
#undef SUGAR
    };
}

Rows more_reductions() {
    return {
#define REDUCTION_SUGAR(spelling, keops, arity, body, doc) {spelling, doc},
#include "compiler/reduction_sugar.def"
#undef REDUCTION_SUGAR
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
    return {
        {"operations", described(ir::all_op_rows())},
        {"functions made of them", functions()},
        {"derivatives", described(all_derivative_rows())},
        {"reductions, with _i, _j or _ij", described(ir::all_reduction_rows())},
        {"reductions made of them", more_reductions()},
        {"formulas to start from, with x on i and y on j", named()}};
}

} // namespace

void bind_language(nb::module_& module) {
    module.def("language", &language,
               "(title, [(spelling, meaning), …]) for each table.");
}

} // namespace tilefold::python
