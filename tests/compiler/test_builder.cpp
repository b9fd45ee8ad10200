// tests/compiler/test_builder.cpp - which values are the same value.

#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

using ir::Builder;
using ir::Op;

const ir::Argument x{"x", DType::F32, 0, 1, 1, Axes::I};

TEST(Builder, MakesEqualValuesOnce) {
    Builder builder(DType::F32);
    const auto a = builder.argument(x, Axes::I);
    EXPECT_EQ(a, builder.argument(x, Axes::I));
    EXPECT_NE(a, builder.argument(x, Axes::J));
    EXPECT_EQ(builder.apply(Op::Sin, {a}), builder.apply(Op::Sin, {a}));
    EXPECT_NE(builder.int_pow(a, 2), builder.int_pow(a, 3));
    EXPECT_EQ(builder.constant(1), builder.constant(1));
    EXPECT_NE(builder.constant(0), builder.constant(-0.0));
    EXPECT_EQ(builder.index(Axes::I), builder.index(Axes::I));
    EXPECT_NE(builder.index(Axes::I), builder.index(Axes::J));
}

TEST(Builder, EveryLiteralHasASlot) {
    Builder builder(DType::F32);
    EXPECT_NE(builder.literal(2), builder.literal(2));
    EXPECT_EQ(builder.graph().literals, (std::vector<double>{2, 2}));
}

TEST(Builder, EqualLiteralsAreMergedAsOperands) {
    Builder builder(DType::F32);
    const auto a = builder.argument(x, Axes::I);
    const auto two = builder.literal(2), again = builder.literal(2);
    const auto three = builder.literal(3);
    const auto product = builder.apply(Op::Mul, {a, two});
    EXPECT_EQ(product, builder.apply(Op::Mul, {a, again}));
    EXPECT_NE(product, builder.apply(Op::Mul, {a, three}));
}

TEST(Builder, ValuesOfLiteralsOnlyAreNotMerged) {
    Builder builder(DType::F32);
    const auto a = builder.argument(x, Axes::I);
    const auto root = builder.apply(Op::Sqrt, {builder.literal(2)});
    const auto other = builder.apply(Op::Sqrt, {builder.literal(2)});
    EXPECT_NE(root, other);
    EXPECT_EQ(builder.apply(Op::Mul, {a, root}),
              builder.apply(Op::Mul, {a, other}));
}

TEST(Builder, FinishKeepsWhatTheResultReaches) {
    Builder builder(DType::F32);
    builder.argument({"unused", DType::F32, 0, 1, 1, Axes::I}, Axes::I);
    builder.literal(7);
    const auto a = builder.argument(x, Axes::J);
    const auto product = builder.apply(Op::Mul, {a, builder.literal(8)});
    const ir::Graph graph = builder.finish(product);
    ASSERT_EQ(graph.arguments.size(), 1u);
    EXPECT_EQ(graph.arguments[0].name, "x");
    EXPECT_EQ(graph.arguments[0].axes, Axes::J);
    EXPECT_EQ(graph.literals, std::vector<double>{8});
    ir::verify(graph);
}

TEST(Builder, AKernelWrittenTwiceIsComputedOnce) {
    const ir::Graph graph = graph_of(
        "(sum_j exp(-|x_i-y_j|²/2l²) b_j) / (sum_j exp(-|x_i-y_j|²/2l²))",
        "x f32[3], y f32[3], b f32, l f64");
    EXPECT_EQ(std::ranges::count(graph.nodes, Op::Exp, &ir::Node::op), 1);
}

TEST(Builder, RefusesGraphsWithoutEnd) {
    Builder builder(DType::F64, "f");
    auto value = builder.argument(x, Axes::I);
    for (std::size_t k = 0; k < ir::most_nodes; ++k)
        value = builder.apply(k % 2 ? Op::Sin : Op::Cos, {value});
    EXPECT_EQ(message_of([&] { builder.finish(value); }),
              "the graph of the formula has more than 20000 nodes\n"
              "  f\n"
              "split the formula, or write sums over components with · and "
              "|…|");
}

TEST(Builder, LongChainsNeedNoStack) {
    Builder builder(DType::F64);
    auto value = builder.argument(x, Axes::I);
    for (std::size_t k = 0; k + 1 < ir::most_nodes; ++k)
        value = builder.apply(k % 2 ? Op::Sin : Op::Cos, {value});
    const ir::Graph graph = builder.finish(value);
    EXPECT_EQ(graph.nodes.size(), ir::most_nodes);
    EXPECT_TRUE(equal(ir::canonicalise(ir::simplify(graph)), graph));
}

} // namespace
} // namespace tilefold::tests
