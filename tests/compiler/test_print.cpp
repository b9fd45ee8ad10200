// tests/compiler/test_print.cpp - graphs as text, and back.

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/random_graph.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <limits>

namespace tilefold::tests {
namespace {

using ir::Names;

TEST(Print, ReadsBackForEveryFormula) {
    for (const Case& c : all_cases()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        const ir::Graph read = ir::parse_ir(ir::print(graph));
        EXPECT_TRUE(equal(read, graph)) << c.name;
        EXPECT_EQ(ir::print(read), ir::print(graph)) << c.name;
        EXPECT_EQ(read.literals, graph.literals) << c.name;
    }
}

TEST(Print, NumbersReadBack) {
    for (const Case& c : all_cases()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        const std::string text = ir::print(graph, Names::Numbers);
        const ir::Graph read = ir::parse_ir(text);
        ir::verify(read);
        EXPECT_EQ(ir::print(read, Names::Numbers), text) << c.name;
    }
}

TEST(Print, RandomGraphsReadBack) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const ir::Graph graph = random_graph(seed);
        EXPECT_TRUE(equal(ir::parse_ir(ir::print(graph)), graph)) << seed;
    }
}

TEST(Print, NumbersAreExact) {
    for (double value :
         {0.1, 1e300, 5e-324, -0.0, std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN(), 1.4426950408889634}) {
        ir::Builder builder(DType::F64);
        const ir::Graph graph = builder.finish(builder.constant(value));
        EXPECT_TRUE(equal(ir::parse_ir(ir::print(graph)), graph)) << value;
    }
}

TEST(Print, NamesAndValuesAreNotPartOfNumbers) {
    EXPECT_EQ(ir::print(graph_of("2 * sin(x_i)", "x f32"), Names::Numbers),
              "graph f32\n"
              "argument 0 : f32 {i}\n"
              "%0 = literal 0 : f64 {}\n"
              "%1 = argument 0 : f32 {i}\n"
              "%2 = sin %1 : f32 {i}\n"
              "%3 = mul %0, %2 : f32 {i}\n"
              "return %3\n");
}

TEST(Print, DescribesTheGrammarOfPrintCpp) {
    EXPECT_EQ(ir::print(graph_of("2 * sin(θ_i) + 2.5", "θ f16")),
              "graph f32\n"
              "argument theta : f16 {i}\n"
              "literal 0 = 2\n"
              "literal 1 = 2.5\n"
              "%0 = literal 0 : f64 {}\n"
              "%1 = argument theta : f32 {i}\n"
              "%2 = sin %1 : f32 {i}\n"
              "%3 = mul %0, %2 : f32 {i}\n"
              "%4 = literal 1 : f64 {}\n"
              "%5 = add %3, %4 : f32 {i}\n"
              "return %5\n");
}

TEST(ParseIr, RefusesMalformedText) {
    constexpr std::string_view malformed[] = {
        "",
        "graph f33\n",
        "graph f32\nreturn %0\n",
        "graph f32\n%0 = constant 1\nreturn %0\n",
        "graph f32\n%0 = constant one : f64 {}\nreturn %0\n",
        "graph f32\n%1 = constant 1 : f64 {}\nreturn %1\n",
        "graph f32\n%0 = argument x : f64 {}\nreturn %0\n",
        "graph f32\n%0 = sin %0 : f64 {}\nreturn %0\n",
        "graph f32\n%0 = sine %0 : f64 {}\nreturn %0\n",
        "graph f32\n%0 = constant 1 : f64 {k}\nreturn %0\n",
        "graph f32\n%0 = constant 1 : f64[ {}\nreturn %0\n",
        "graph f32\nargument x\n",
        "graph f32\nliteral 99999999 = 2\n",
        "graph f32\n%0 = constant 1 : f64 {}\n"
        "%1 = reduce total j %0 : f64 {}\nreturn %1\n",
    };
    for (std::string_view text : malformed)
        EXPECT_THROW(ir::parse_ir(text), Error) << text;
}

} // namespace
} // namespace tilefold::tests
