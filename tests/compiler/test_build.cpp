// tests/compiler/test_build.cpp - formulas to graphs, as golden text.

#include "compiler/ir/text.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

TEST(Build, Golden) {
    for (const Case& c : all_cases())
        expect_golden("build/" + std::string(c.name) + ".ir",
                      std::string(c.formula) + "\n\n" +
                          ir::print(graph_of(c.formula, c.arguments)));
}

TEST(Build, NumbersOfADefinitionHaveOneSlot) {
    const ir::Graph graph = graph_of(
        "k(x_i, y_j) + k(y_j, x_i) with k(u, v) = 2 u + 3 v", "x f32, y f32");
    EXPECT_EQ(graph.literals.size(), 2u);
}

TEST(Build, NumbersOfTheLanguageAreConstants) {
    EXPECT_TRUE(graph_of("sigmoid(x_i)", "x f32").literals.empty());
}

TEST(Build, ArgumentsOverrideConstants) {
    const ir::Graph graph = graph_of("pi * x_i", "x f32, pi f64");
    EXPECT_EQ(graph.arguments.size(), 2u);
    EXPECT_EQ(graph_of("e^(x_i)", "x f32, e f64").arguments.size(), 2u);
}

TEST(Build, WholeAndHalfExponentsArePartOfTheGraphOthersAreNumbers) {
    for (const char* power :
         {"x_i^-3", "x_i^0.5", "x_i^2.5", "x_i^(3/2)", "x_i^(-1/2)",
          "pow(x_i, 2)", "x_i^p with p = -7/2"}) {
        const ir::Graph graph = graph_of(power, "x f32");
        EXPECT_TRUE(graph.literals.empty()) << power;
        EXPECT_EQ(std::ranges::count(graph.nodes, ir::Op::Pow, &ir::Node::op),
                  0)
            << power;
    }
    for (const char* power : {"x_i^2.3", "x_i^65", "x_i^(1/3)", "x_i^(1/0)"})
        EXPECT_EQ(std::ranges::count(graph_of(power, "x f32").nodes,
                                     ir::Op::Pow, &ir::Node::op),
                  1)
            << power;
}

TEST(Build, ANameInGreekAndInAsciiIsOneName) {
    EXPECT_EQ(graph_of("σ x_i", "sigma f64, x f32").arguments.size(), 2u);
    EXPECT_EQ(graph_of("lambda_ x_i", "λ f64, x f32").arguments.size(), 2u);
}

TEST(Build, ChainedComparisonsShareTheirMiddle) {
    const ir::Graph graph = graph_of("where(0 <= i - 3 < 2, x_i, 0)", "x f32");
    EXPECT_EQ(std::ranges::count(graph.nodes, ir::Op::Sub, &ir::Node::op), 1);
}

/// Names of the arguments whose width is not part of the graph.
std::string widths(std::string_view formula, std::string_view types) {
    std::string names;
    for (const ir::Argument& argument : graph_of(formula, types).arguments)
        if (argument.rows == dynamic)
            names += argument.name;
    return names;
}

constexpr std::string_view xyb = "x f32[3], y f32[3], b f32[2]";

TEST(DynamicWidth, OfTheLinearFactor) {
    EXPECT_EQ(widths("sum_j exp(-|x_i-y_j|²) b_j", xyb), "b");
    EXPECT_EQ(widths("sum_i exp(-|x_i-y_j|²) b_i", xyb), "b");
    EXPECT_EQ(widths("mean_j -exp(-|x_i-y_j|²)*b_j/2", xyb), "b");
    EXPECT_EQ(widths("softmax_j(x_i·y_j, b_j)", xyb), "b");
    EXPECT_EQ(widths("softmax_j(x_i·y_j, b_j)", "x f32[3], y f32[3], b f32[1]"),
              "b");
}

TEST(DynamicWidth, ThroughAnEpilogueOfScalars) {
    EXPECT_EQ(widths("c_i * (sum_j exp(x_i·y_j) b_j)/(sum_j exp(x_i·y_j)) + 1",
                     "x f32[3], y f32[3], b f32[2], c f32"),
              "b");
    EXPECT_EQ(widths("(sum_j exp(x_i·y_j) b_j) - (mean_j b_j)", xyb), "b");
}

TEST(DynamicWidth, NotWhereTheWidthMatters) {
    EXPECT_EQ(widths("sum_j exp(-|x_i-y_j|²) b_j", "x f32[3], y f32[3], b f32"),
              "");
    EXPECT_EQ(widths("sum_j exp(-|x_i-y_j|²) b_j[0]", xyb), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) * b_j*b_j", xyb), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) tanh(b_j)", xyb), "");
    EXPECT_EQ(widths("max_j exp(x_i·y_j) b_j", xyb), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) * exp(b_j·b_j) b_j", xyb), "");
    EXPECT_EQ(widths("|sum_j exp(x_i·y_j) b_j|", xyb), "");
    EXPECT_EQ(widths("sum_ij exp(x_i·y_j) b_j", xyb), "");
    EXPECT_EQ(widths("sum_j b_j", "b f32[2]"), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) (b_j + 1)", xyb), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) b_i", xyb), "");
    EXPECT_EQ(widths("b_i + sum_j exp(x_i·y_j) b_j", xyb), "");
    EXPECT_EQ(widths("sum_j exp(x_i·y_j) b", xyb), "");
}

TEST(DynamicWidth, OfOneArgumentOnly) {
    EXPECT_EQ(widths("(sum_j exp(x_i·y_j) b_j) + (sum_j c_j)",
                     "x f32[3], y f32[3], b f32[2], c f32[2]"),
              "");
    EXPECT_EQ(widths("c_i + sum_j exp(x_i·y_j) b_j",
                     "x f32[3], y f32[3], b f32[2], c f32[2]"),
              "");
}

} // namespace
} // namespace tilefold::tests
