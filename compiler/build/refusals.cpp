// compiler/build/refusals.cpp - what a missing name, a bracket or a matrix was
// most likely meant as, and what to write for it.

#include "compiler/build/graph_build.h"
#include "compiler/ir/queries.h"
#include "formulas/catalogue.h"
#include "formulas/names.h"
#include "formulas/notations.h"
#include "formulas/readings.h"
#include "formulas/symbols.h"

#include <algorithm>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

std::vector<std::string> reductions_known() {
    std::vector<std::string> known;
    for (const std::string& name : vocabulary().names())
        if (vocabulary().reduction(name).least >= 0)
            known.push_back(name);
    return known;
}

std::vector<std::string> formulas_known() {
    std::vector<std::string> known;
    for (const NamedFormula& row : catalogue)
        known.emplace_back(row.name);
    return known;
}

/// The name of a formula that `name` is near, if any.
std::optional<std::string> formula_meant(const std::string& name) {
    std::string synonym(find_synonym(name));
    const auto known = formulas_known();
    if (std::ranges::count(known, synonym) != 0)
        return synonym;
    return names_like(name, known);
}

/// Whether the name is `πi` or `pij`, each of which is one name.
bool ends_in_index(const std::string& name) {
    return name == "pii" || name == "pij";
}

/// Whether a parameter is a length wherever it stands in the formula, so that
/// x and y are divided by it where it has several components.
bool is_length(std::string_view formula, std::string_view parameter) {
    return parameter == "l" && formula != "stein" && formula != "periodic";
}

/// Returns a call as "matern32(x_i/l, y_j/l, 1)".
std::string divided_call(const Sugar& sugar, const std::string& length) {
    std::string text =
        std::string(sugar.spelling) + "(x_i/" + length + ", y_j/" + length;
    for (std::size_t k = 2; k < sugar.parameters.size(); ++k)
        text +=
            ", " + (sugar.parameters[k] == length ? "1" : sugar.parameters[k]);
    return text + ")";
}

} // namespace

void GraphBuild::refuse_missing(const NameUse& use) const {
    const std::string& name = use.name.name;
    const Span span = use.name.span;
    const std::string typed = this->typed(span);
    const std::string axis =
        use.is_bare ? "" : "_" + std::string(spelling_of(use.name.axes));
    if (name == "e")
        refuse(Code::ConstantE, span, {});
    if (!use.is_bare && is_order_statistic(name))
        refuse(Code::OrderStatistic, span, {typed, axis});
    if (!use.is_bare) {
        std::string meant = meant_reduction(name, vocabulary());
        if (meant.empty())
            meant = nearest_name(name, reductions_known()).value_or("");
        if (!meant.empty())
            refuse(Code::ReductionName, span, {typed, name, meant + axis});
        refuse(Code::MissingArgument, span, {name});
    }
    const std::string alias(find_alias(name));
    if (vocabulary().function(alias.empty() ? name : alias).least >= 0)
        refuse(Code::FunctionNeedsParentheses, span, {name});
    if (vocabulary().reduction(name).least >= 0)
        refuse(Code::ReductionNeedsAxis, span, {name});
    if (ends_in_index(name))
        refuse(Code::IndexInName, span,
               {typed, typed.substr(0, typed.size() - 1), name.substr(2)});
    refuse(Code::MissingArgument, span, {name});
}

/// Refuses `rbf`, alone: arguments are those of the formula that was meant, so
/// that what is wrong with them is no answer.
void GraphBuild::check_whole_formula() const {
    const ast::Node& root = formula_[formula_.root];
    if (root.kind != ast::Kind::Name)
        return;
    const auto use = uses_.find(root.name); // none of what `with` defines
    if (use == uses_.end() || use->second.is_constant || !use->second.is_bare)
        return;
    for (const ArgumentType& argument : given_)
        if (normalise_name(argument.name) == root.name)
            return;
    if (const auto meant = formula_meant(root.name))
        refuse(Code::UnknownFormula, root.span, {root.name, *meant});
}

/// Refuses `x[i]` where x is on i already: a component was hardly meant.
void GraphBuild::check_points(std::span<const ValueId> operands,
                              Span span) const {
    const ir::Node& table = builder_[operands[0]];
    if (!own_ || table.op != Op::Argument)
        return;
    const std::string& name =
        builder_.graph().arguments[std::size_t(table.first)].name;
    const auto use = uses_.find(name);
    if (use == uses_.end() || !use->second.is_bare ||
        use->second.name.axes == Axes::None)
        return;
    for (ValueId index : operands.subspan(1)) {
        if (!ir::reads_index(builder_.graph(), index))
            continue;
        const bool plain = builder_[index].op == Op::Index;
        const Axes axis =
            plain ? builder_.type(index).axes : use->second.name.axes;
        refuse(Code::PointSubscript, span,
               {name, name + "_" + std::string(spelling_of(axis))});
    }
}

/// Refuses `A x_i` and `A*x_i` of a matrix.
void GraphBuild::check_matrix(const Scope& scope, const ast::Node& node,
                              Type left, Type right, Span span) const {
    if (scope.call || std::max(left.rank, right.rank) != 2 ||
        std::min(left.rank, right.rank) != 1)
        return;
    refuse(Code::MatrixProduct, span,
           {print_reading(scope.formula, node.children[0]),
            print_reading(scope.formula, node.children[1])});
}

/// Called before a quotient or a power of a vector is refused, to say that a
/// length scale for each dimension was given to a named formula.
void GraphBuild::check_scale(const Scope& scope, Span span) const {
    if (scope.is_named()) {
        const Caller& caller = *scope.caller;
        for (std::size_t k = 2; k < caller.sugar.parameters.size(); ++k)
            check_scale(
                caller.sugar, caller.sugar.parameters[k],
                builder_.type(caller.scope.values.at(caller.node.children[k])),
                span);
        return;
    }
    const Sugar* sugar = find_sugar(formula_.named);
    if (!sugar)
        return;
    for (const std::string& parameter : sugar->parameters)
        if (const auto argument = arguments_.find(parameter);
            argument != arguments_.end() &&
            argument->second.axes == Axes::None) {
            Type type;
            type.rank = argument->second.rank;
            type.rows = argument->second.rows;
            check_scale(*sugar, parameter, type, span);
        }
}

void GraphBuild::check_scale(const Sugar& sugar, const std::string& name,
                             const Type& type, Span span) const {
    if (type.rank != 1 || type.rows == 1)
        return;
    const std::string count = std::to_string(type.rows);
    if (is_length(sugar.spelling, name))
        refuse(Code::NamedScale, span,
               {std::string(sugar.spelling), name, count,
                divided_call(sugar, name)});
    refuse(Code::NamedNumber, span, {std::string(sugar.spelling), name, count});
}

} // namespace tilefold
