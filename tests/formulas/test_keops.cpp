// tests/formulas/test_keops.cpp - KeOps spelling: keops.txt, aliases,
// reductions.
#include "formulas/equal.h"
#include "formulas/keops_syntax.h"
#include "formulas/parser.h"
#include "formulas/printer.h"
#include "formulas/readings.h"
#include "tests/formulas/golden.h"
#include "tests/formulas/vocabulary.h"

#include <gtest/gtest.h>

namespace tilefold::tests {

namespace {

const std::vector<std::string> aliases = {
    "x = Vi(3)", "y = Vj(3)", "b = Vj(2)", "g = Pm(1)", "s = Pm(3)",
};

/// The pair term alone; for the whole of Genred see the tests below.
std::string keops_outcome(const std::string& text) {
    try {
        return print_readings(
            parse_keops(text, aliases, {}, vocabulary()).formula);
    } catch (const Error& error) {
        return "✗ " + first_line(error.what());
    }
}

std::string reduced(const KeopsReduction& reduction) {
    return print_readings(
        parse_keops("SqDist(x,y)*g", aliases, reduction, vocabulary()).formula);
}

KeopsVariable alias(std::string_view text) {
    return parse_keops_alias(text, 7);
}

} // namespace

TEST(Keops, IsReadAsWritten) {
    std::string written;
    for (const std::string& line : lines_of(read_golden("keops.txt"))) {
        std::string wanted = line;
        if (!line.empty() && !line.starts_with('#')) {
            std::string formula = line.substr(0, line.find(arrow));
            formula.erase(formula.find_last_not_of(' ') + 1);
            wanted =
                formula + std::string(arrow) + " " + keops_outcome(formula);
            if (!updating_golden()) {
                EXPECT_EQ(line, wanted);
            }
        }
        written += wanted + "\n";
    }
    if (updating_golden())
        write_golden("keops.txt", written);
}

TEST(Keops, NumbersHaveNoSign) {
    const ast::Formula formula =
        parse_keops("SqDist(x,y)*-2", aliases,
                    {"LogSumExp", ast::Axes::J, "", -1}, vocabulary())
            .formula;
    int numbers = 0;
    for (const ast::Node& node : formula.nodes)
        if (node.kind == ast::Kind::Number) {
            EXPECT_GT(node.value, 0);
            ++numbers;
        }
    EXPECT_EQ(numbers, 2);
}

TEST(Keops, DeclaresVariablesByAliases) {
    using ast::Axes;
    EXPECT_EQ(alias("x = Vi(3)").axes, Axes::I);
    EXPECT_EQ(alias("x = Vi(3)").dimension, 3);
    EXPECT_EQ(alias("x = Vi(3)").position, 7U);
    EXPECT_EQ(alias("y=Vj(1,2)").axes, Axes::J);
    EXPECT_EQ(alias("y=Vj(1,2)").position, 1U);
    EXPECT_EQ(alias("σ = Pm(2)").name, "sigma");
    EXPECT_EQ(alias("p = Var(4, 2, 2)").axes, Axes::None);
    EXPECT_EQ(alias("p = Var(4, 2, 2)").dimension, 2);
    EXPECT_EQ(alias("p = Var(4, 2, 2)").position, 4U);
    EXPECT_EQ(alias("x_i = Vi(3)").name, "x_i");
}

TEST(Keops, RefusesOtherAliases) {
    for (const std::string_view text :
         {"", "x", "x = 3", "x = Vi", "x = Vi()", "x = Vi(3", "x = Vi(0)",
          "x = Vk(3)", "x = Vi(1, 2, 3)", "x = Var(0, 3)", "x = Var(0, 3, 3)",
          "x = Vi(3) + 1", "x = Vi(1.5)", "x = Vi(3,)"})
        EXPECT_THROW(alias(text), Error) << text;
}

TEST(Keops, ListsVariablesByPosition) {
    const std::vector<std::string> some = {"b = Vj(2, 1)", "x = Vi(0, 3)"};
    const KeopsFormula formula =
        parse_keops("Exp(Var(1,3,1)*x)*b", some, {}, vocabulary());
    ASSERT_EQ(formula.variables.size(), 3U);
    EXPECT_EQ(formula.variables[0].name, "x");
    EXPECT_EQ(formula.variables[1].name, "arg1");
    EXPECT_EQ(formula.variables[1].axes, ast::Axes::J);
    EXPECT_EQ(formula.variables[2].name, "b");
}

TEST(Keops, ReducesAsGenredDoes) {
    using ast::Axes;
    EXPECT_EQ(reduced({"Sum", Axes::J, "", {}}),
              "sum_j⟨(sqdist(x_i, y_j) * g)⟩");
    EXPECT_EQ(reduced({"LogSumExp", Axes::I, "", {}}),
              "logsumexp_i⟨(sqdist(x_i, y_j) * g)⟩");
    EXPECT_EQ(reduced({"SumSoftMaxWeight", Axes::J, "b", {}}),
              "softmax_j((sqdist(x_i, y_j) * g), b_j)");
    EXPECT_EQ(reduced({"LogSumExp", Axes::J, "Exp(b)", {}}),
              "logsumexp_j((sqdist(x_i, y_j) * g), exp(b_j))");
    EXPECT_EQ(reduced({"ArgKMin", Axes::J, "", 10}),
              "argkmin_j((sqdist(x_i, y_j) * g), 10)");
}

TEST(Keops, GivesTheTreeOfNaturalSpelling) {
    const auto keops = parse_keops("Exp(-SqDist(x,y)*g)*b", aliases,
                                   {"Sum", ast::Axes::J, "", {}}, vocabulary());
    const auto natural =
        parse("sum_j (exp((-sqdist(x_i, y_j))*g)*b_j)", vocabulary());
    EXPECT_TRUE(equal(keops.formula, natural));
    EXPECT_TRUE(
        equal(parse(print(keops.formula), vocabulary()), keops.formula));
}

} // namespace tilefold::tests
