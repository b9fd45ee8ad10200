// compiler/language/vocabulary.cpp - the names of the language, from its
// tables.

#include "compiler/language/vocabulary.h"

#include "formulas/catalogue.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace tilefold {
namespace {

struct SugarRow {
    std::string_view spelling, keops, parameters, body, doc;
};
constexpr SugarRow sugar_rows[] = {
#define SUGAR(spelling, keops, parameters, body, doc)                          \
    {spelling, keops, parameters, body, doc},
#include "compiler/language/sugar.def"
#undef SUGAR
};

struct ReductionSugarRow {
    std::string_view spelling, keops, operands, body, of_complex, doc;
};
constexpr ReductionSugarRow reduction_sugar_rows[] = {
#define REDUCTION_SUGAR(spelling, keops, operands, body, of_complex, doc)      \
    {spelling, keops, operands, body, of_complex, doc},
#include "compiler/language/reduction_sugar.def"
#undef REDUCTION_SUGAR
};

constexpr DerivativeRow derivative_rows[] = {
#define DERIVATIVE(name, spelling, arity, doc) {spelling, arity, doc},
#include "compiler/language/derivatives.def"
#undef DERIVATIVE
};

constexpr ShapeFunctionRow shape_function_rows[] = {
#define SHAPE_FUNCTION(name, spelling, keops, least, most, doc)                \
    {spelling, keops, least, most, doc},
#include "compiler/language/shape_functions.def"
#undef SHAPE_FUNCTION
};

/// Operators that are spelled in letters.
constexpr std::string_view word_operators[] = {"neg", "and", "or", "not"};

bool is_function_name(std::string_view spelling) {
    return std::isalpha((unsigned char)(spelling[0])) &&
           std::ranges::find(word_operators, spelling) ==
               std::end(word_operators);
}

/// Splits "x, a, b" into names.
std::vector<std::string> names_in(std::string_view list) {
    std::vector<std::string> names(list.empty() ? 0 : 1);
    for (char c : list)
        if (c == ',')
            names.emplace_back();
        else if (c != ' ')
            names.back() += c;
    return names;
}

const NamedFormula* find_named(std::string_view name) {
    const auto found = std::ranges::find(catalogue, name, &NamedFormula::name);
    return found == std::end(catalogue) ? nullptr : found;
}

std::vector<std::string> parameters_of(const NamedFormula& row) {
    std::vector<std::string> names = {"x", "y"};
    std::ranges::move(names_in(row.parameters), std::back_inserter(names));
    return names;
}

void widen(Vocabulary::Arity& arity, int count) {
    arity.least = arity.least < 0 ? count : std::min(arity.least, count);
    arity.most = std::max(arity.most, count);
}

Vocabulary::Arity function_arity(std::string_view name) {
    Vocabulary::Arity arity;
    if (name.empty() || !is_function_name(name))
        return arity;
    for (const ir::OpRow& row : ir::all_op_rows())
        if (row.spelling == name)
            widen(arity, row.arity);
    for (const SugarRow& row : sugar_rows)
        if (row.spelling == name)
            widen(arity, int(names_in(row.parameters).size()));
    for (const DerivativeRow& row : derivative_rows)
        if (row.spelling == name)
            widen(arity, row.arity);
    if (const ComplexFunctionRow* row = find_complex_function(name))
        widen(arity, row->arity);
    for (const ShapeFunctionRow& row : shape_function_rows)
        if (row.spelling == name) {
            widen(arity, row.least);
            widen(arity, row.most);
        }
    arity.chains = name == row_of(ir::Op::Minimum).spelling ||
                   name == row_of(ir::Op::Maximum).spelling;
    const NamedFormula* named = find_named(name);
    if (named && !named->is_reduction) {
        widen(arity, int(parameters_of(*named).size()));
        arity.weak = true;
    }
    return arity;
}

/// A user-defined monoid takes terms and initial state, then functions.
Vocabulary::Arity arity_of(const ir::ReductionRow& row) {
    Vocabulary::Arity arity{.least = row.least, .most = row.most};
    if (row.monoid == ir::Monoid::UserDefined)
        arity.values = 2;
    return arity;
}

Vocabulary::Arity reduction_arity(std::string_view stem) {
    if (const auto found = find_reduction(stem))
        return arity_of(ir::row_of(*found));
    for (const ReductionSugarRow& row : reduction_sugar_rows)
        if (row.spelling == stem) {
            const int count = int(names_in(row.operands).size());
            return {.least = count, .most = count};
        }
    return {};
}

bool is_linear_reduction(std::string_view stem) {
    const auto found = find_reduction(stem);
    return found && ir::row_of(*found).monoid == ir::Monoid::Add &&
           ir::row_of(*found).result != ir::ReductionResult::Index;
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const ir::OpRow& row : ir::all_op_rows())
        if (is_function_name(row.spelling))
            names.emplace_back(row.spelling);
    for (const SugarRow& row : sugar_rows)
        if (is_function_name(row.spelling))
            names.emplace_back(row.spelling);
    for (const DerivativeRow& row : derivative_rows)
        names.emplace_back(row.spelling);
    for (const ComplexFunctionRow& row : all_complex_function_rows())
        names.emplace_back(row.spelling);
    for (const ShapeFunctionRow& row : shape_function_rows)
        names.emplace_back(row.spelling);
    for (const NamedFormula& row : catalogue)
        if (!row.is_reduction)
            names.emplace_back(row.name);
    for (const ir::ReductionRow& row : ir::all_reduction_rows())
        names.emplace_back(row.spelling);
    for (const ReductionSugarRow& row : reduction_sugar_rows)
        names.emplace_back(row.spelling);
    std::ranges::sort(names);
    const auto rest = std::ranges::unique(names);
    names.erase(rest.begin(), rest.end());
    return names;
}

std::string operation_of_keops(std::string_view name) {
    for (const ir::OpRow& row : ir::all_op_rows())
        if (!name.empty() && row.keops == name)
            return std::string(row.spelling);
    for (const SugarRow& row : sugar_rows)
        if (!name.empty() && row.keops == name)
            return std::string(row.spelling);
    for (const ShapeFunctionRow& row : shape_function_rows)
        if (!name.empty() && row.keops == name)
            return std::string(row.spelling);
    return {};
}

std::string reduction_of_keops(std::string_view name) {
    for (const ir::ReductionRow& row : ir::all_reduction_rows())
        if (!name.empty() && row.keops == name)
            return std::string(row.spelling);
    return {};
}

std::vector<ReductionSugar> parse_reduction_sugar() {
    std::vector<ReductionSugar> all;
    for (const ReductionSugarRow& row : reduction_sugar_rows) {
        ReductionSugar& sugar = all.emplace_back(
            ReductionSugar{row.spelling, names_in(row.operands),
                           parse(row.body, vocabulary()), std::nullopt});
        if (!row.of_complex.empty())
            sugar.of_complex = parse(row.of_complex, vocabulary());
    }
    return all;
}

std::vector<Sugar> parse_sugar() {
    std::vector<Sugar> all;
    for (const SugarRow& row : sugar_rows)
        all.push_back({row.spelling, names_in(row.parameters),
                       parse(row.body, vocabulary())});
    for (const NamedFormula& row : catalogue)
        if (!row.is_reduction)
            all.push_back({row.name, parameters_of(row),
                           parse(row.formula, vocabulary()), true});
    return all;
}

} // namespace

const Vocabulary& vocabulary() {
    static const Vocabulary tables{function_arity,     reduction_arity,
                                   all_names,          is_linear_reduction,
                                   operation_of_keops, reduction_of_keops};
    return tables;
}

std::span<const DerivativeRow> all_derivative_rows() {
    return derivative_rows;
}

std::optional<DerivativeFunction> find_derivative(std::string_view spelling) {
    const auto row =
        std::ranges::find(derivative_rows, spelling, &DerivativeRow::spelling);
    if (row == std::end(derivative_rows))
        return std::nullopt;
    return DerivativeFunction(row - derivative_rows);
}

std::span<const ShapeFunctionRow> all_shape_function_rows() {
    return shape_function_rows;
}

std::optional<ShapeFunction> find_shape_function(std::string_view spelling) {
    const auto row = std::ranges::find(shape_function_rows, spelling,
                                       &ShapeFunctionRow::spelling);
    if (row == std::end(shape_function_rows))
        return std::nullopt;
    return ShapeFunction(row - shape_function_rows);
}

std::optional<ir::Op> find_operation(std::string_view spelling,
                                     std::size_t arity) {
    const auto rows = ir::all_op_rows();
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (rows[k].spelling == spelling && std::size_t(rows[k].arity) == arity)
            return ir::op_of_row(k);
    return std::nullopt;
}

const Sugar* find_sugar(std::string_view spelling) {
    static const std::vector<Sugar> all = parse_sugar();
    const auto found = std::ranges::find(all, spelling, &Sugar::spelling);
    return found == all.end() ? nullptr : &*found;
}

namespace {

/// Returns null where `text` is no name of the catalogue.
const NamedFormula* find_named_alone(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return nullptr;
    const std::size_t last = text.find_last_not_of(blanks);
    return find_named(text.substr(first, last + 1 - first));
}

} // namespace

std::string_view resolve_name(std::string_view text) {
    const NamedFormula* named = find_named_alone(text);
    return named ? named->formula : text;
}

ast::Formula parse_or_resolve(std::string_view text) {
    const NamedFormula* named = find_named_alone(text);
    ast::Formula formula = parse(named ? named->formula : text, vocabulary());
    if (named)
        formula.named = named->name;
    return formula;
}

const ReductionSugar* find_reduction_sugar(std::string_view stem) {
    static const std::vector<ReductionSugar> all = parse_reduction_sugar();
    const auto found = std::ranges::find(all, stem, &ReductionSugar::spelling);
    return found == all.end() ? nullptr : &*found;
}

std::optional<ir::Reduction> find_reduction(std::string_view stem) {
    const auto rows = ir::all_reduction_rows();
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (rows[k].spelling == stem)
            return ir::Reduction(k);
    return std::nullopt;
}

} // namespace tilefold
