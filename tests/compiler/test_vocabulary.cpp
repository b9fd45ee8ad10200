// tests/compiler/test_vocabulary.cpp - the names of the tables, as the parser
// sees them.

#include "compiler/language/vocabulary.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

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
/// With `count` operands that suit the function, of `most`.
std::string call_of(const std::string& name, int count, int most) {
    static const std::map<std::string, std::string> calls = {
        {"where", "t_i, x_i, x_i"},
        {"symsqnorm", "A, x_i"},
        {"gather", "A, a_i, a_i"},
        {"rand", "a_i, 1, 2"},
        {"randn", "a_i, 1, 2"},
        {"onehot", "a_i, 3"},
        {"pad", "x_i, 1, 5"},
        {"repeat", "a_i, 3"},
        {"kron", "x_i, x_i, 3, 3"},
        {"tensordot", "x_i, x_i, [1, 3], 3, 1, 0, 0"},
        {"bspline", "x_i, a_i, 1"},
    };
    const auto found = calls.find(name);
    std::string operands = found == calls.end() ? "x_i" : found->second;
    if (found == calls.end())
        for (int k = 1; k < count; ++k)
            operands += ", x_i";
    for (; found != calls.end() && most > count; --most)
        operands.resize(operands.rfind(','));
    return name + "(" + operands + ")";
}

TEST(Vocabulary, EveryFunctionHasAMeaning) {
    for (const std::string& name : vocabulary().names()) {
        if (find_derivative(name))
            continue; // of a scalar: see the next test
        const auto [least, most, is_named, chains, values] = arity(name);
        if (is_named)
            continue; // of two points: see test_named_formulas.cpp
        for (int count = std::max(least, 1); count <= most; ++count) {
            const std::string formula = call_of(name, count, most);
            std::string types;
            for (std::string_view type :
                 {"x f64[3]", "t bool", "A f64[3,3]", "a f64"})
                if (formula.find(std::string(type.substr(0, 1)) +
                                 (type[0] == 'A' ? ", " : "_i")) !=
                    std::string::npos)
                    types += (types.empty() ? "" : ", ") + std::string(type);
            EXPECT_FALSE(graph_of(formula, types).nodes.empty()) << formula;
        }
    }
}

TEST(Vocabulary, DerivativesHaveAMeaning) {
    for (const char* formula :
         {"grad(x_i·x_i, x_i)", "laplacian(x_i·x_i, x_i)",
          "divergence(2x_i, x_i)", "jvp(x_i·x_i, x_i, 3x_i)",
          "vjp(x_i*x_i, x_i, 3x_i)", "jacobian(2x_i, x_i)"})
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
