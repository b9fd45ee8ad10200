// tests/compiler/test_verify.cpp - every broken invariant is named.

#include "compiler/ir/verify.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

/// What verify() says of a graph, without the words all messages share.
std::string complaint(const ir::Graph& graph) {
    const std::string text = message_of([&] { ir::verify(graph); });
    const std::string begin = "internal error: broken graph";
    if (!text.starts_with(begin))
        return text;
    return text.substr(begin.size(), text.find('\n') - begin.size());
}

const ir::Graph& sound() {
    static const ir::Graph graph =
        graph_of("l + sum_j exp(-|x_i - y_j|²) b_j * 2",
                 "x f32[3], y f32[3], b f32, l f64");
    return graph;
}

std::size_t find(const ir::Graph& graph, ir::Op op) {
    for (std::size_t k = 0; k < graph.nodes.size(); ++k)
        if (graph.nodes[k].op == op)
            return k;
    return 0;
}

TEST(Verify, AcceptsWhatBuildMakes) {
    for (const Case& c : all_cases())
        EXPECT_EQ(complaint(graph_of(c.formula, c.arguments)), "no error")
            << c.name;
}

TEST(Verify, TheResultIsAValue) {
    ir::Graph graph = sound();
    graph.result = 1000;
    EXPECT_EQ(complaint(graph), ": the result is a value");
}

TEST(Verify, OperandsPrecedeTheirUsers) {
    ir::Graph graph = sound();
    graph.nodes[2].operands[0] = 2;
    EXPECT_EQ(complaint(graph), " at %2: operands precede their users");
}

TEST(Verify, NoValueIsMadeTwice) {
    ir::Graph graph = sound();
    graph.nodes.insert(graph.nodes.begin() + 1, graph.nodes[0]);
    EXPECT_EQ(complaint(graph), " at %1: a value made twice");
}

TEST(Verify, TypesAreInferred) {
    ir::Graph graph = sound();
    graph.nodes[find(graph, ir::Op::Exp)].type.dtype = DType::F64;
    EXPECT_NE(complaint(graph).find("not the inferred type"),
              std::string::npos);
}

TEST(Verify, EveryValueIsUsed) {
    ir::Graph graph = sound();
    graph.result = 2;
    EXPECT_EQ(complaint(graph), ": a value that nothing uses");
}

TEST(Verify, ArgumentsAndLiteralsAreUsedAndNumbered) {
    ir::Graph graph = sound();
    graph.arguments.push_back(graph.arguments[0]);
    EXPECT_EQ(complaint(graph), ": an argument that nothing reads");
    graph = sound();
    graph.literals.push_back(1);
    EXPECT_EQ(complaint(graph), ": a literal that nothing reads");
    graph = sound();
    graph.nodes[0].first = 1;
    EXPECT_EQ(complaint(graph), " at %0: numbered by first use");
}

TEST(Verify, AxesOfArgumentsAreWhereTheyAreRead) {
    ir::Graph graph = sound();
    graph.arguments[0].axes = Axes::IJ;
    EXPECT_EQ(complaint(graph), ": an argument's axes are where it is read");
}

TEST(Verify, AttributesFitTheOperation) {
    ir::Graph graph = sound();
    graph.nodes[find(graph, ir::Op::Reduce)].third = 3;
    EXPECT_NE(complaint(graph).find(": K"), std::string::npos);
    graph = sound();
    graph.nodes[find(graph, ir::Op::Reduce)].second = 0;
    EXPECT_NE(complaint(graph).find(": reduced axes"), std::string::npos);
    graph = sound();
    graph.nodes[find(graph, ir::Op::Exp)].arity = 0;
    EXPECT_NE(complaint(graph).find(": wrong number of operands"),
              std::string::npos);
}

TEST(Verify, TheComputingDTypeIsOneOfTwo) {
    ir::Graph graph = sound();
    graph.real = DType::F16;
    EXPECT_EQ(complaint(graph), ": the computing dtype is f32 or f64");
}

} // namespace
} // namespace tilefold::tests
