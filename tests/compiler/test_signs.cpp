// tests/compiler/test_signs.cpp - what is known of a result's sign.

#include "compiler/passes/passes.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/random_graph.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilefold::tests {
namespace {

using ir::Sign;

Sign sign_of(std::string_view formula, std::string_view types) {
    const ir::Graph graph = graph_of(formula, types);
    return ir::signs(graph)[graph.result];
}

TEST(Signs, OfOperations) {
    EXPECT_EQ(sign_of("x_i", "x f64"), Sign::Unknown);
    EXPECT_EQ(sign_of("n_i", "n u8"), Sign::NonNegative);
    EXPECT_EQ(sign_of("x_i²", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("-(x_i²)", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("x_i³", "x f64"), Sign::Unknown);
    EXPECT_EQ(sign_of("x_i² * exp(x_i)", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("-|x_i|/exp(x_i)", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("|x_i| + x_i²", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("|x_i| - x_i²", "x f64"), Sign::Unknown);
    EXPECT_EQ(sign_of("tanh(-|x_i|)", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("where(x_i < 0, x_i², |x_i|)", "x f64"),
              Sign::NonNegative);
    EXPECT_EQ(sign_of("where(x_i < 0, x_i², x_i)", "x f64"), Sign::Unknown);
    EXPECT_EQ(sign_of("(-2)^x_i", "x f64"), Sign::Unknown);
    EXPECT_EQ(sign_of("-(x_i²)/(2*0.3^2)", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("x_i²/-2", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("x_i²/(1 - 2)", "x f64"), Sign::Unknown);
}

TEST(Signs, OfPowersBelowOne) {
    EXPECT_EQ(sign_of("exp(-|x_i|)", "x f64"), Sign::Unit);
    EXPECT_EQ(sign_of("exp2(-(x_i²))", "x f64"), Sign::Unit);
    EXPECT_EQ(sign_of("exp(x_i)", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("exp(-|x_i|) + exp(-|x_i|)", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("exp(-|x_i|)^-3", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("-exp(-|x_i|)", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("exp(-|x_i|)*|x_i|", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("exp(-|x_i|)*-|x_i|", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("log1p(exp(-|x_i|))", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("min_i exp(-|x_i|)", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("sum_i exp(-|x_i|)", "x f64"), Sign::NonNegative);
}

TEST(Signs, OfReductions) {
    EXPECT_EQ(sign_of("sum_i x_i²", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("max_i x_i²", "x f64"), Sign::Unknown) << "-inf of none";
    EXPECT_EQ(sign_of("min_i x_i²", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("argmin_i x_i", "x f64"), Sign::Unknown) << "-1 of none";
    EXPECT_EQ(sign_of("count_i(x_i < 0)", "x f64"), Sign::NonNegative);
    EXPECT_EQ(sign_of("softmax_i(x_i, -(x_i²))", "x f64"), Sign::NonPositive);
    EXPECT_EQ(sign_of("logsumexp_i(x_i²)", "x f64"), Sign::Unknown);
}

/// Each claim holds of the interpreter's numbers.
TEST(Signs, HoldOfEveryResult) {
    for (const Case& c : all_cases()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        const Sign sign = ir::signs(graph)[graph.result];
        for (double value : all_results(graph, 2)) {
            EXPECT_FALSE(ir::is_nonnegative(sign) && value < 0) << c.name;
            EXPECT_FALSE(sign == Sign::Unit && value > 1) << c.name;
            EXPECT_FALSE(sign == Sign::NonPositive && value > 0) << c.name;
        }
    }
}

} // namespace
} // namespace tilefold::tests
