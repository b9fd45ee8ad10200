// tests/compiler/test_named_formulas.cpp - the rows of catalogue.def, as
// formulas and as functions.
#include "compiler/ir/text.h"
#include "compiler/language/vocabulary.h"
#include "formulas/catalogue.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tilefold::tests {
namespace {

ast::Formula parsed(std::string_view text) {
    return parse(text, vocabulary());
}

bool reduces(const ast::Formula& formula) {
    return std::ranges::any_of(formula.nodes, [](const ast::Node& node) {
        return node.kind == ast::Kind::Reduce;
    });
}

/// The bare names a caller must pass, in the order of the text.
std::string parameters_of(const ast::Formula& formula) {
    std::set<std::string> known = {"x", "y"};
    std::string list;
    for (const FreeName& name : free_names(formula))
        if (name.axes == Axes::None && known.insert(name.name).second)
            list += (list.empty() ? "" : ", ") + name.name;
    return list;
}

/// Returns types for what the formula reads: points of 3 components, numbers.
std::string types_of(std::string_view formula) {
    std::string types;
    for (const FreeName& name : free_names(parsed(formula)))
        types += (types.empty() ? "" : ", ") + name.name +
                 (name.axes == Axes::None ? " f64" : " f64[3]");
    return types;
}

std::string graph_text(std::string_view formula) {
    return ir::print(graph_of(formula, types_of(formula)));
}

TEST(NamedFormulas, AreWhatTheirRowsSay) {
    for (const NamedFormula& row : catalogue) {
        const ast::Formula formula = parsed(row.formula);
        EXPECT_EQ(parameters_of(formula), row.parameters) << row.name;
        EXPECT_EQ(reduces(formula), row.is_reduction) << row.name;
        EXPECT_FALSE(row.doc.empty()) << row.name;
    }
}

/// A name means one thing, but for operations of several arities, and a
/// function and a reduction of one spelling (max).
TEST(NamedFormulas, ShareNoNameWithTheOtherTables) {
    std::map<std::string, std::string, std::less<>> owners;
    const auto add = [&](std::string_view name, const char* table) {
        const auto [place, is_new] = owners.emplace(name, table);
        EXPECT_TRUE(is_new)
            << name << " in " << place->second << " and " << table;
    };
    std::set<std::string_view> operations, functions, reductions;
    for (const ir::OpRow& row : ir::all_op_rows())
        operations.insert(row.spelling);
    functions = operations;
#define SUGAR(spelling, ...) functions.insert(spelling);
#include "compiler/language/sugar.def"
#undef SUGAR
    for (const ir::ReductionRow& row : ir::all_reduction_rows())
        reductions.insert(row.spelling);
    for (std::string_view name : operations)
        add(name, "ops.def");
    for (std::string_view name : reductions)
        if (!functions.contains(name))
            add(name, "reductions.def");
#define SUGAR(spelling, ...) add(spelling, "sugar.def");
#include "compiler/language/sugar.def"
#undef SUGAR
#define REDUCTION_SUGAR(spelling, ...) add(spelling, "reduction_sugar.def");
#include "compiler/language/reduction_sugar.def"
#undef REDUCTION_SUGAR
    for (const DerivativeRow& row : all_derivative_rows())
        add(row.spelling, "derivatives.def");
    for (const ShapeFunctionRow& row : all_shape_function_rows())
        add(row.spelling, "shape_functions.def");
    for (const NamedFormula& row : catalogue)
        add(row.name, "catalogue.def");
}

TEST(NamedFormulas, TakeTwoPointsAndTheirParameters) {
    EXPECT_EQ(vocabulary().function("gaussian").least, 3);
    EXPECT_EQ(vocabulary().function("gaussian").most, 3);
    EXPECT_EQ(vocabulary().function("energy").least, 2);
    EXPECT_EQ(vocabulary().function("attention").least, -1);
    EXPECT_EQ(refusal("gaussian(x_i, y_j)"),
              "'gaussian' takes 3 arguments, not 2\n"
              "  gaussian(x_i, y_j)\n"
              "  ^~~~~~~~~~~~~~~~~~\n"
              "write gaussian(…, …, …)");
}

TEST(NamedFormulas, AreInlined) {
    EXPECT_EQ(graph_text("energy(x_i, y_j)"), graph_text("-|x_i - y_j|"));
    EXPECT_EQ(graph_text("matern32(x_i, y_j, l) + matern32(x_i, y_j, a)"),
              graph_text("k(l) + k(a) with k(s) = matern32(x_i, y_j, s)"))
        << "what a row defines is of the call";
}

TEST(NamedFormulas, PointAtTheCall) {
    EXPECT_EQ(
        refusal("1 + gaussian(x_i, y_j, l)", "x f64[3], y f64[3], l f64[3]"),
        "'gaussian' takes one number as l, not 3\n"
        "  1 + gaussian(x_i, y_j, l)\n"
        "      ^~~~~~~~~~~~~~~~~~~~~\n"
        "for a length scale per dimension write gaussian(x_i/l, y_j/l, 1)");
    EXPECT_EQ(refusal("energy(x_i, y_j)", "x f64[3], y f64[2]"),
              "'-' of a vector of 3 components and a vector of 2 components: "
              "the numbers of components differ\n"
              "  energy(x_i, y_j)\n"
              "  ^~~~~~~~~~~~~~~~\n"
              "components must agree, or one operand must be a scalar, such "
              "as a component, v[0]");
}

TEST(NamedFormulas, GiveWayToNamesOfTheFormula) {
    EXPECT_EQ(graph_text("linear(x_i, y_j) with linear(u, v) = 2u·v"),
              graph_text("f(x_i, y_j) with f(u, v) = 2u·v"));
    EXPECT_EQ(graph_text("energy x_i"), graph_text("energy*x_i"));
    EXPECT_EQ(graph_text("energy² x_i"), graph_text("energy^2*x_i"));
    EXPECT_EQ(graph_text("x_i·y_j + energy with energy = l"),
              graph_text("x_i·y_j + l"));
    EXPECT_EQ(graph_text("f(l) with f(energy) = energy*x_i"),
              graph_text("l*x_i"));
    EXPECT_EQ(refusal("energy(x_i, y_j) with energy = 2"),
              "unknown function 'energy'; for a product write energy*(…)\n"
              "  energy(x_i, y_j) with energy = 2\n"
              "  ^~~~~~\n"
              "or define it after the formula: … with energy(u, v) = …");
    EXPECT_EQ(
        graph_text("f(x_i) with f(u) = linear(u, u), linear(u, v) = 2u·v"),
        graph_text("f(x_i) with f(u) = 2u·u"));
}

TEST(NamedFormulas, AreOffered) {
    EXPECT_NE(refusal("gausian(x_i, y_j, l)").find("did you mean gaussian?"),
              std::string::npos);
    EXPECT_NE(refusal("rbf(x_i, y_j, l)").find("did you mean gaussian?"),
              std::string::npos);
}

TEST(NamedFormulas, StandAlone) {
    EXPECT_EQ(resolve_name(" attention\n"), "softmax_j(q_i·k_j/sqrt(d), v_j)");
    EXPECT_EQ(resolve_name("energy"), "-|x-y|");
    EXPECT_EQ(resolve_name("(energy)"), "(energy)");
    EXPECT_EQ(resolve_name("exp"), "exp");
    EXPECT_EQ(resolve_name(" "), " ");
}

} // namespace
} // namespace tilefold::tests
