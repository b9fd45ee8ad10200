// tests/compiler/test_interpreter.cpp - the oracle against sums written out.

#include "compiler/backends/reference/interpreter.h"
#include "compiler/ir/scalar.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace tilefold::tests {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Arguments by name: component (row, column) of point p at
/// [(p * rows + row) * columns + column].
using Arrays = std::map<std::string, std::vector<double>>;

std::vector<double> evaluate(std::string_view formula, std::string_view types,
                             const Arrays& arrays, reference::Sizes sizes,
                             std::vector<std::int64_t> points,
                             std::vector<std::int64_t> columns = {}) {
    const ir::Graph graph = graph_of(formula, types);
    const auto read = [&](std::size_t number, std::int64_t point,
                          std::int32_t row, std::int32_t column) {
        const ir::Argument& a = graph.arguments[number];
        const std::int64_t rows = a.rows == dynamic ? sizes.width : a.rows;
        return arrays.at(a.name).at(
            std::size_t((point * rows + row) * a.columns + column));
    };
    return reference::evaluate(graph, sizes, read, points, columns);
}

TEST(Interpreter, SumsPairByPair) {
    const auto result = evaluate("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                                 "x f64[2], y f64[2], b f64[2], l f64",
                                 {{"x", {0, 0, 1, 2}},
                                  {"y", {1, 1, 0, 3, 2, 2}},
                                  {"b", {1, 2, 3, 4, 5, 6}},
                                  {"l", {0.5}}},
                                 {2, 3, 2}, {1, 0});
    const auto k = [](double d2) { return std::exp(-d2 / 0.5); };
    EXPECT_DOUBLE_EQ(result[0], k(1) * 1 + k(2) * 3 + k(1) * 5);
    EXPECT_DOUBLE_EQ(result[1], k(1) * 2 + k(2) * 4 + k(1) * 6);
    EXPECT_DOUBLE_EQ(result[2], k(2) * 1 + k(9) * 3 + k(8) * 5);
    EXPECT_DOUBLE_EQ(result[3], k(2) * 2 + k(9) * 4 + k(8) * 6);
}

TEST(Interpreter, ReadsMatricesByRows) {
    const auto result = evaluate(
        "A @ x_i", "A f64[2,3], x f64[3]",
        {{"A", {1, 2, 3, 4, 5, 6}}, {"x", {1, 10, 100}}}, {1, 1, 1}, {0});
    EXPECT_EQ(result, (std::vector<double>{321, 654}));
    EXPECT_EQ(evaluate("x_i @ A", "A f64[2,3], x f64[2]",
                       {{"A", {1, 2, 3, 4, 5, 6}}, {"x", {1, 10}}}, {1, 1, 1},
                       {0}),
              (std::vector<double>{41, 52, 63}));
}

TEST(Interpreter, EvaluatesPairs) {
    EXPECT_EQ(evaluate("10*x_i + y_j", "x f64, y f64",
                       {{"x", {1, 2}}, {"y", {3, 4, 5}}}, {2, 3, 1}, {0, 1, 1},
                       {2, 0, 2}),
              (std::vector<double>{15, 23, 25}));
}

TEST(Interpreter, KeepsEitherAxis) {
    const Arrays arrays{{"x", {1, 2}}, {"y", {3, 4, 5}}};
    EXPECT_EQ(
        evaluate("sum_i x_i*y_j", "x f64, y f64", arrays, {2, 3, 1}, {0, 2}),
        (std::vector<double>{9, 15}));
    EXPECT_EQ(
        evaluate("sum_ij x_i*y_j", "x f64, y f64", arrays, {2, 3, 1}, {0}),
        std::vector<double>{36});
    EXPECT_EQ(evaluate("2*y_j", "y f64", arrays, {1, 3, 1}, {2}),
              std::vector<double>{10});
    EXPECT_EQ(
        evaluate("argmax_ij x_i*y_j", "x f64, y f64", arrays, {2, 3, 1}, {0}),
        std::vector<double>{5})
        << "row * columns + column";
}

/// A reduction of one row of numbers.
double reduce(const std::string& name, const std::vector<double>& values,
              const std::vector<double>& more = {}) {
    const bool two = !more.empty();
    const std::string text =
        "0*c_i + " + name + (two ? "_j(a_j, b_j)" : "_j a_j");
    return evaluate(text, two ? "a f64, b f64, c f64" : "a f64, c f64",
                    {{"a", values}, {"b", more}, {"c", {0}}},
                    {1, std::int64_t(values.size()), 1}, {0})[0];
}

TEST(InterpreterReductions, TheFirstNaNWins) {
    EXPECT_TRUE(std::isnan(reduce("max", {1, nan, 3})));
    EXPECT_TRUE(std::isnan(reduce("min", {1, nan, 3})));
    EXPECT_EQ(reduce("argmax", {1, nan, 3, nan}), 1);
    EXPECT_EQ(reduce("argmin", {nan, nan, 0}), 0);
}

TEST(InterpreterReductions, TiesGoToTheFirst) {
    EXPECT_EQ(reduce("argmax", {1, 3, 3}), 1);
    EXPECT_EQ(reduce("argmin", {2, 1, 1}), 1);
    EXPECT_EQ(reduce("argmin", {inf, inf}), 0);
    EXPECT_EQ(reduce("argmax", {-inf}), 0);
}

TEST(InterpreterReductions, EmptyRangesGiveTheIdentity) {
    EXPECT_EQ(reduce("sum", {}), 0);
    EXPECT_TRUE(std::isnan(reduce("mean", {})));
    EXPECT_EQ(reduce("prod", {}), 1);
    EXPECT_EQ(reduce("max", {}), -inf);
    EXPECT_EQ(reduce("min", {}), inf);
    EXPECT_EQ(reduce("argmax", {}), -1);
    EXPECT_EQ(reduce("logsumexp", {}), -inf);
}

TEST(InterpreterReductions, ExponentialsNeverOverflow) {
    EXPECT_DOUBLE_EQ(reduce("logsumexp", {1000, 1000}), 1000 + std::log(2));
    EXPECT_DOUBLE_EQ(reduce("logsumexp", {-1000, -1001}),
                     -1000 + std::log1p(std::exp(-1)));
    EXPECT_EQ(reduce("logsumexp", {-inf, -inf}), -inf);
    EXPECT_EQ(reduce("logsumexp", {0, inf}), inf);
    EXPECT_TRUE(std::isnan(reduce("logsumexp", {0, nan, 5})));
    EXPECT_DOUBLE_EQ(reduce("logsumexp", {1, 5, -inf}, {2, 3, 4}),
                     std::log(2 * std::exp(1) + 3 * std::exp(5)));
    EXPECT_DOUBLE_EQ(reduce("softmax", {1000, 999}, {3, 5}),
                     (3 + 5 * std::exp(-1)) / (1 + std::exp(-1)));
    EXPECT_DOUBLE_EQ(reduce("softmax", {-inf, 2}, {3, 5}), 5);
    EXPECT_TRUE(std::isnan(reduce("softmax", {-inf, -inf}, {3, 5})));
}

TEST(InterpreterReductions, KMinimaAreSortedWithNaNLast) {
    const Arrays arrays{{"a", {3, nan, 1, 3, inf}}, {"c", {0}}};
    const auto take = [&](const std::string& what, std::int64_t count) {
        return evaluate("0*c_i + " + what, "a f64, c f64", arrays,
                        {1, count, 1}, {0});
    };
    EXPECT_EQ(take("kmin_j(a_j, 2)", 5), (std::vector<double>{1, 3}));
    EXPECT_EQ(take("argkmin_j(a_j, 4)", 5), (std::vector<double>{2, 0, 3, 4}));
    EXPECT_EQ(take("argkmin_j(a_j, 6)", 5),
              (std::vector<double>{2, 0, 3, 4, 1, -1}));
    const auto values = take("kmin_j(a_j, 3)", 2);
    EXPECT_EQ(values[0], 3);
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_EQ(values[2], inf);
}

TEST(InterpreterReductions, TruthValues) {
    const Arrays arrays{{"a", {1, 2, 3}}, {"c", {0}}};
    const auto take = [&](const std::string& what, std::int64_t count) {
        return evaluate("where(" + what + ", 1, 0) + 0*c_i", "a f64, c f64",
                        arrays, {1, count, 1}, {0})[0];
    };
    EXPECT_EQ(take("any_j(a_j > 2)", 3), 1);
    EXPECT_EQ(take("any_j(a_j > 2)", 2), 0);
    EXPECT_EQ(take("any_j(a_j > 2)", 0), 0);
    EXPECT_EQ(take("all_j(a_j < 3)", 2), 1);
    EXPECT_EQ(take("all_j(a_j < 3)", 3), 0);
    EXPECT_EQ(take("all_j(a_j < 3)", 0), 1);
    EXPECT_EQ(take("count_j(a_j < 3) == 2", 3), 1);
}

double apply(ir::Op op, double a, double b = 0, double c = 0) {
    const double operands[] = {a, b, c};
    return ir::evaluate(op, operands);
}

TEST(Scalar, RemaindersHaveTheDivisorsSign) {
    EXPECT_EQ(apply(ir::Op::Mod, 7, 3), 1);
    EXPECT_EQ(apply(ir::Op::Mod, -7, 3), 2);
    EXPECT_EQ(apply(ir::Op::Mod, 7, -3), -2);
    EXPECT_EQ(apply(ir::Op::Mod, -7, -3), -1);
    EXPECT_TRUE(std::signbit(apply(ir::Op::Mod, 6, -3)));
    EXPECT_TRUE(std::isnan(apply(ir::Op::Mod, 1, 0)));
}

TEST(Scalar, ExtremesCarryNaN) {
    EXPECT_TRUE(std::isnan(apply(ir::Op::Minimum, nan, 1)));
    EXPECT_TRUE(std::isnan(apply(ir::Op::Maximum, 1, nan)));
    EXPECT_EQ(apply(ir::Op::Minimum, 2, 1), 1);
    EXPECT_EQ(apply(ir::Op::Maximum, 2, 1), 2);
}

TEST(Scalar, RoundsHalvesToEven) {
    EXPECT_EQ(apply(ir::Op::Round, 0.5), 0);
    EXPECT_EQ(apply(ir::Op::Round, 1.5), 2);
    EXPECT_EQ(apply(ir::Op::Round, -2.5), -2);
}

TEST(Scalar, SignOfNaNIsNaN) {
    EXPECT_EQ(apply(ir::Op::Sign, -3), -1);
    EXPECT_EQ(apply(ir::Op::Sign, 0), 0);
    EXPECT_TRUE(std::isnan(apply(ir::Op::Sign, nan)));
}

/// The table's range column holds of every operation's meaning.
TEST(Scalar, RangesOfOpsDefHold) {
    const auto rows = ir::all_op_rows();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (rows[k].shape != ir::ShapeRule::Elementwise)
            continue;
        for (double a : {-2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 3.0})
            for (double b : {-2.0, 0.5, 3.0}) {
                const double y = apply(ir::op_of_row(k), a, b, -b);
                const ir::RangeRule range = rows[k].range;
                EXPECT_FALSE(range == ir::RangeRule::NonNegative && y < 0)
                    << rows[k].name;
                EXPECT_FALSE(range == ir::RangeRule::Odd && y * a < 0)
                    << rows[k].name;
            }
    }
}

} // namespace
} // namespace tilefold::tests
