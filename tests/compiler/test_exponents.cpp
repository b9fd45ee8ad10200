// tests/compiler/test_exponents.cpp - exponents that a call gives: which they
// are, what they are, and that a graph with them is that of the numbers.

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/exponents.h"
#include "compiler/passes/passes.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tilefold::tests {
namespace {

using ir::half_exponent;

constexpr std::string_view points = "x f32[3], y f32[3]";

/// `parameters` come after the points.
ir::Graph canonical(std::string_view formula, std::string_view parameters) {
    return program_of(formula, std::string(points).append(parameters)).graph();
}

/// p is (0.5, 4), n is 3, a is 2.
double parameter(const ir::Graph& graph, std::size_t number,
                 std::int64_t component) {
    const std::string& name = graph.arguments[number].name;
    return name == "n" ? 3 : name == "a" ? 2 : component == 0 ? 0.5 : 4;
}

struct Exponent {
    std::string_view formula, parameters;
    double value; ///< NaN: a call does not give it
};

TEST(Exponents, AreThoseOfACall) {
    constexpr double none = NAN;
    constexpr Exponent all[] = {
        {"sum_j (x_i·y_j)^a", ", a f32", 2},
        {"sum_j (x_i·y_j)^(-a)", ", a f32", -2},
        {"sum_j (x_i·y_j)^(1 - 2a)", ", a f32", -3},
        {"sum_j (x_i·y_j)^(a/4)", ", a f32", 0.5},
        {"sum_j (x_i·y_j)^n", ", n i64", 3},
        {"sum_j (x_i·y_j)^(-n)", ", n i64", -3},
        {"sum_j (x_i·y_j)^(n - 1)", ", n i64", 2},
        {"sum_j (x_i·y_j)^(n/2)", ", n i64", 1.5},
        {"sum_j (x_i·y_j)^p[1]", ", p f64[2]", 4},
        {"sum_j (x_i·y_j)^(sqrt(p[1]) + p[0])", ", p f64[2]", 2.5},
        {"sum_j (x_i·y_j)^1.3", "", 1.3},
        {"sum_j sum(pow(abs(x_i - y_j), a))", ", a f32", 2},
        {"max_j (x_i[0] - y_j[0])^a", ", a f32", 2},
        {"sum_j (x_i·y_j)^2", "", none},
        {"sum_j (x_i·y_j)^x_i[0]", "", none},
        {"sum_j (x_i·y_j)^(a y_j[1])", ", a f32", none},
        {"sum_j a^n * x_i·y_j", ", a f32, n i64", none},
        {"sum_j exp(a x_i·y_j)", ", a f32", none},
    };
    for (const Exponent& e : all) {
        const ir::Graph graph = canonical(e.formula, e.parameters);
        const std::vector<ir::ValueId> found = ir::uniform_exponents(graph);
        ASSERT_EQ(found.size(), std::isnan(e.value) ? 0U : 1U) << e.formula;
        if (found.empty())
            continue;
        EXPECT_EQ(ir::value_of_exponent(
                      graph, found[0],
                      [&](std::size_t number, std::int64_t component) {
                          return parameter(graph, number, component);
                      }),
                  e.value)
            << e.formula;
    }
}

TEST(Exponents, AreWholeOrHalfAndSmall) {
    EXPECT_EQ(half_exponent(0), 0);
    EXPECT_EQ(half_exponent(-0.5), -1);
    EXPECT_EQ(half_exponent(8), 16);
    EXPECT_EQ(half_exponent(-7.5), -15);
    for (double open : {0.25, 1.3, 8.5, -9.0, 1e300, double(INFINITY),
                        std::nextafter(2.0, 3.0), double(NAN)})
        EXPECT_EQ(half_exponent(open), ir::open_exponent) << open;
}

/// The operations of a graph, in the order of their texts.
std::vector<std::string> operations(const ir::Graph& graph) {
    std::vector<std::string> all;
    for (const ir::Node& node : graph.nodes)
        all.push_back(
            std::string(ir::mnemonic(node.op)) + " " +
            std::to_string(node.op == ir::Op::IntPow ? node.first : 0));
    std::ranges::sort(all);
    return all;
}

TEST(Exponents, MakeTheGraphOfTheNumber) {
    struct Fixed {
        double exponent;
        std::string_view written;
    };
    for (const Fixed& f :
         {Fixed{2, "2"}, Fixed{-1, "(-1)"}, Fixed{0.5, "(1/2)"},
          Fixed{-2.5, "(-5/2)"}, Fixed{8, "8"}, Fixed{0, "0"}, Fixed{1, "1"}}) {
        const std::string before = "sum_j (1 + |x_i - y_j|²)^",
                          after = " y_j[0]";
        const ir::Graph graph = canonical(before + "a" + after, ", a f32");
        const std::vector<ir::ValueId> exponents = ir::uniform_exponents(graph);
        const ir::HalfExponent fixed = half_exponent(f.exponent);
        const ir::Graph made =
            ir::canonicalise(ir::with_exponents(graph, exponents, {&fixed, 1}));
        ir::verify(made);
        EXPECT_EQ(
            operations(made),
            operations(canonical(before + std::string(f.written) + after, "")));
    }
}

TEST(Exponents, StayOpenWhereTheyAreAny) {
    const ir::Graph graph =
        canonical("sum_j (x_i·y_j)^a * (1 + y_j[0]²)^n", ", a f32, n i64");
    const std::vector<ir::ValueId> exponents = ir::uniform_exponents(graph);
    ASSERT_EQ(exponents.size(), 2U);
    const ir::HalfExponent open[] = {ir::open_exponent, ir::open_exponent};
    EXPECT_EQ(ir::print(ir::with_exponents(graph, exponents, open)),
              ir::print(graph));
    const ir::HalfExponent one[] = {ir::open_exponent, half_exponent(3)};
    const std::vector<std::string> made =
        operations(ir::canonicalise(ir::with_exponents(graph, exponents, one)));
    EXPECT_EQ(std::ranges::count(made, "pow 0"), 1);
    EXPECT_EQ(std::ranges::count(made, "intpow 3"), 1);
}

} // namespace
} // namespace tilefold::tests
