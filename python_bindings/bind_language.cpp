// python_bindings/bind_language.cpp - the tables of the language as lists,
// for `tilefold formulas`.
#include "compiler/backends/cpu/tiles.h"
#include "compiler/language/vocabulary.h"
#include "compiler/language_tables.h"
#include "formulas/catalogue.h"
#include "formulas/keops_syntax.h"
#include "formulas/language_version.h"
#include "formulas/printer.h"
#include "python_bindings/call.h"
#include "python_bindings/text_caster.h"
#include "runtime/core/scratch.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

using Columns = std::map<std::string, std::string>;

/// "4x1 2x1/16": vectors of rows by columns, and the cycles of a stage.
std::string text_of_tiles(std::span<const Tile> tiles) {
    std::string text;
    for (const Tile& tile : tiles) {
        text += (text.empty() ? "" : " ") + std::to_string(tile.row_vectors) +
                "x" + std::to_string(tile.columns);
        if (tile.min_stage_cycles)
            text += "/" + std::to_string(tile.min_stage_cycles);
    }
    return text;
}

/// What each kind of plan has of each instruction set; those of one row of
/// tiles.def have one number.
std::vector<Columns> tiles() {
    std::vector<Columns> all;
    std::map<const Tile*, std::string> rows;
    for (const PlanKindRow& kind : plan_kind_rows())
        for (const IsaRow& isa : isa_rows())
            for (const DType real : {DType::F32, DType::F64}) {
                const auto tiles = tiles_for(kind.kind, isa, real);
                const auto row =
                    rows.try_emplace(tiles.data(), std::to_string(rows.size()));
                all.push_back({{"kind", std::string(kind.spelling)},
                               {"isa", std::string(isa.spelling)},
                               {"real", std::string(spelling_of(real))},
                               {"row", row.first->second},
                               {"tiles", text_of_tiles(tiles)}});
            }
    return all;
}

/// What a compiler chooses from.
void add_plans(std::map<std::string, std::vector<Columns>>& all) {
    for (const PlanKindRow& row : plan_kind_rows())
        all["plan kinds"].push_back({{"name", std::string(row.spelling)}});
#define NEST(name, spelling) all["nests"].push_back({{"name", spelling}});
#include "compiler/backends/cpu/nests.def"
#undef NEST
#define PLAN_FIELD(name, least, most, off, ...)                                \
    all["plan fields"].push_back({{"name", #name}, {"off", #off}});
#include "compiler/backends/cpu/plan_fields.def"
#undef PLAN_FIELD
    for (const IsaRow& row : isa_rows())
        all["instruction sets"].push_back(
            {{"name", std::string(row.spelling)},
             {"bytes", std::to_string(row.vector_bytes)},
             {"bf16", row.bf16 ? "yes" : ""},
             {"blocks", row.blocks ? "yes" : ""}});
    all["tiles"] = tiles();
    all["limits"].push_back(
        {{"name", "scratch"}, {"value", std::to_string(Scratch::kept)}});
}

/// The columns of a row that tests need, by name.
std::map<std::string, std::vector<Columns>> tables() {
    std::map<std::string, std::vector<Columns>> all;
    auto& operations = all["operations"];
#define OP(name, spelling, keops, arity, shape, result, ...)                   \
    operations.push_back({{"name", #name},                                     \
                          {"spelling", spelling},                              \
                          {"arity", #arity},                                   \
                          {"shape", #shape},                                   \
                          {"result", #result}});
#include "compiler/ir/ops.def"
#undef OP
    auto& functions = all["functions"];
#define SUGAR(spelling, keops, parameters, body, doc)                          \
    functions.push_back({{"name", spelling}, {"parameters", parameters}});
#include "compiler/language/sugar.def"
#undef SUGAR
    auto& reductions = all["reductions"];
#define REDUCTION(name, spelling, keops, least, most, ...)                     \
    reductions.push_back(                                                      \
        {{"name", spelling}, {"least", #least}, {"most", #most}});
#include "compiler/ir/reductions.def"
#undef REDUCTION
#define REDUCTION_SUGAR(spelling, keops, arity, ...)                           \
    reductions.push_back(                                                      \
        {{"name", spelling}, {"least", #arity}, {"most", #arity}});
#include "compiler/language/reduction_sugar.def"
#undef REDUCTION_SUGAR
    auto& dtypes = all["dtypes"];
#define DTYPE(name, spelling, ...) dtypes.push_back({{"name", spelling}});
#include "compiler/ir/dtypes.def"
#undef DTYPE
    add_plans(all);
    return all;
}

using NamedRow =
    std::tuple<std::string, std::string, std::string, std::string, bool>;

std::vector<NamedRow> named_formulas() {
    std::vector<NamedRow> rows;
    for (const NamedFormula& row : catalogue)
        rows.emplace_back(row.name, row.formula, row.parameters, row.doc,
                          row.is_reduction);
    return rows;
}

/// Returns the distances of two points that have no parameter.
std::vector<std::string> named_distances() {
    std::vector<std::string> names;
    for (const NamedFormula& row : catalogue)
        if (row.is_distance && row.parameters.empty())
            names.emplace_back(row.name);
    return names;
}

/// A formula in KeOps spelling as this language writes it.
std::string natural_spelling(const std::string& formula,
                             const std::vector<std::string>& aliases,
                             const std::string& reduction, int axis,
                             const std::string& formula2, int opt_arg) {
    if (axis != 0 && axis != 1)
        fail(Code::BadOption, {"axis", std::to_string(axis),
                               "pass 0 to reduce over i, or 1 over j"});
    KeopsReduction reduced{
        reduction, axis == 0 ? ast::Axes::I : ast::Axes::J, formula2, {}};
    if (opt_arg != 0)
        reduced.count = opt_arg;
    return print(parse_keops(formula, aliases, reduced, vocabulary()).formula);
}

std::vector<std::pair<std::string, Rows>> language() {
    std::vector<std::pair<std::string, Rows>> all;
    for (LanguageTable& table : language_tables()) {
        Rows& rows = all.emplace_back(std::move(table.title), Rows()).second;
        for (LanguageRow& row : table.rows)
            rows.emplace_back(std::move(row.spelling), std::move(row.meaning));
    }
    return all;
}

} // namespace

void bind_language(nb::module_& module) {
    module.attr("language_version") = std::string(language_version);
    module.def("language", &language,
               "(title, [(spelling, meaning), …]) for each table.");
    module.def("natural_spelling", &natural_spelling, nb::arg("formula"),
               nb::arg("aliases"), nb::kw_only(), nb::arg("reduction") = "",
               nb::arg("axis") = 1, nb::arg("formula2") = "",
               nb::arg("opt_arg") = 0, "See tilefold.natural_spelling.");
    module.def("_tables", &tables,
               "The rows of the compiler's tables, by table and column.");
    module.def("named_formulas", &named_formulas,
               "(name, formula, parameters, meaning, whether it reduces) for "
               "each row\nof the catalogue.");
    module.def("named_distances", &named_distances,
               "The distances of the catalogue that need nothing but two "
               "points.");
}

} // namespace tilefold::python
