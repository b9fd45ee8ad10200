// compiler/language_tables.cpp - see language_tables.h.

#include "compiler/language_tables.h"

#include "compiler/build/build.h"
#include "compiler/language/vocabulary.h"
#include "formulas/catalogue.h"

namespace tilefold {
namespace {

using Rows = std::vector<LanguageRow>;

/// Spelling and meaning of each row of a table.
template <class Table> Rows described(const Table& table) {
    Rows rows;
    for (const auto& row : table)
        rows.push_back({std::string(row.spelling), std::string(row.doc)});
    return rows;
}

Rows functions() {
    return {
#define SUGAR(spelling, keops, parameters, body, doc) {spelling, doc},
#include "compiler/language/sugar.def"
#undef SUGAR
    };
}

Rows other_names() {
    return {
#define ALIAS(name, function) {name, function},
#include "formulas/tokens.def"
    };
}

Rows more_reductions() {
    return {
#define REDUCTION_SUGAR(spelling, keops, operands, body, of_complex, doc)      \
    {spelling, doc},
#include "compiler/language/reduction_sugar.def"
#undef REDUCTION_SUGAR
    };
}

/// "gaussian(x, y, l)" of a function, the bare name of a reduction.
std::string signature_of(const NamedFormula& row) {
    std::string name(row.name);
    if (row.is_reduction)
        return name;
    const std::string rest(row.parameters);
    return name + "(x, y" + (rest.empty() ? "" : ", " + rest) + ")";
}

Rows named(bool reductions) {
    Rows rows;
    for (const NamedFormula& row : catalogue)
        if (row.is_reduction == reductions)
            rows.push_back({signature_of(row), std::string(row.formula) +
                                                   "  (" +
                                                   std::string(row.doc) + ")"});
    return rows;
}

} // namespace

std::vector<LanguageTable> language_tables() {
    return {
        {"operations", described(ir::all_op_rows())},
        {"functions made of them", functions()},
        {"other names of functions", other_names()},
        {"derivatives", described(all_derivative_rows())},
        {"functions of shapes", described(all_shape_function_rows())},
        {"reductions, with _i, _j or _ij", described(ir::all_reduction_rows())},
        {"reductions made of them", more_reductions()},
        {"named formulas, functions of two points", named(false)},
        {"named reductions, each a formula of its own", named(true)}};
}

} // namespace tilefold
