// tests/compiler/test_vocabulary.cpp - the names of the tables, as the parser
// sees them.

#include "compiler/vocabulary.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

Vocabulary::Arity arity(std::string_view name) {
    return vocabulary().function(name);
}

TEST(Vocabulary, KnowsFunctionsByTheirArity) {
    EXPECT_EQ(arity("exp").least, 1);
    EXPECT_EQ(arity("exp").most, 1);
    EXPECT_EQ(arity("max").least, 1) << "of the components of a vector";
    EXPECT_EQ(arity("max").most, 2) << "of two";
    EXPECT_EQ(arity("clamp").least, 3);
    EXPECT_EQ(arity("where").most, 3);
    EXPECT_EQ(arity("nothing").least, -1);
    EXPECT_EQ(arity("").least, -1);
}

TEST(Vocabulary, OperatorsAreNoFunctions) {
    for (std::string_view name : {"+", "·", "@", "neg", "and", "or", "not"})
        EXPECT_EQ(arity(name).least, -1) << name;
}

TEST(Vocabulary, KnowsReductions) {
    EXPECT_EQ(vocabulary().reduction("sum").most, 1);
    EXPECT_EQ(vocabulary().reduction("logsumexp").most, 2);
    EXPECT_EQ(vocabulary().reduction("argkmin").least, 2);
    EXPECT_EQ(vocabulary().reduction("exp").least, -1);
}

TEST(Vocabulary, ListsEveryNameOnce) {
    auto names = vocabulary().names();
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    for (std::string_view name : {"exp", "relu", "argkmin", "sqdist"})
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
    for (const std::string& name : names)
        EXPECT_TRUE(arity(name).least >= 0 ||
                    vocabulary().reduction(name).least >= 0)
            << name;
}

TEST(Vocabulary, TranslatesKeops) {
    EXPECT_EQ(vocabulary().keops_operation("SqDist"), "sqdist");
    EXPECT_EQ(vocabulary().keops_operation("Mult"), "*");
    EXPECT_EQ(vocabulary().keops_operation("Norm2"), "norm");
    EXPECT_EQ(vocabulary().keops_operation("Nothing"), "");
    EXPECT_EQ(vocabulary().keops_operation(""), "");
    EXPECT_EQ(vocabulary().keops_reduction("ArgKMin"), "argkmin");
    EXPECT_EQ(vocabulary().keops_reduction(""), "");
}

/// Every function of the tables builds a graph.
TEST(Vocabulary, EveryFunctionHasAMeaning) {
    for (const std::string& name : vocabulary().names()) {
        if (find_derivative(name))
            continue; // of a scalar: see the next test
        const auto [least, most, is_named, values] = arity(name);
        if (is_named)
            continue; // of two points: see test_named_formulas.cpp
        for (int count = std::max(least, 1); count <= most; ++count) {
            std::string formula = name + "(";
            for (int k = 0; k < count; ++k)
                formula += k == 0 && name == "where"       ? "t_i"
                           : k == 0 && name == "symsqnorm" ? "A"
                           : k == 0                        ? "x_i"
                                                           : ", x_i";
            const std::string types = name == "where" ? "x f64[3], t bool"
                                      : name == "symsqnorm"
                                          ? "A f64[3,3], x f64[3]"
                                          : "x f64[3]";
            EXPECT_FALSE(graph_of(formula + ")", types).nodes.empty())
                << formula;
        }
    }
}

TEST(Vocabulary, DerivativesHaveAMeaning) {
    for (const char* formula :
         {"grad(x_i·x_i, x_i)", "laplacian(x_i·x_i, x_i)",
          "divergence(2x_i, x_i)", "jvp(x_i·x_i, x_i, 3x_i)"})
        EXPECT_FALSE(graph_of(formula, "x f64[3]").nodes.empty()) << formula;
    for (const auto& row : all_derivative_rows())
        EXPECT_TRUE(arity(std::string(row.spelling)).least == row.arity);
}

TEST(Vocabulary, EveryMnemonicIsItsOwn) {
    std::vector<std::string_view> names;
    for (std::size_t op = 0;
         op < std::size_t(ir::Op::Reduce) + 1 + ir::all_op_rows().size(); ++op)
        names.push_back(ir::mnemonic(ir::Op(op)));
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    EXPECT_EQ(ir::mnemonic(ir::Op::SqDist), "sqdist");
    EXPECT_EQ(ir::mnemonic(ir::Op::Reduce), "reduce");
}

} // namespace
} // namespace tilefold::tests
