// tests/formulas/test_parser.cpp - what the tree holds, and its limits.
#include "formulas/equal.h"
#include "formulas/parser.h"
#include "formulas/printer.h"
#include "tests/formulas/vocabulary.h"

#include <ctime>
#include <gtest/gtest.h>

namespace tilefold::tests {

namespace {

using ast::Axes;
using ast::Formula;
using ast::Kind;
using ast::Node;

Formula read(std::string_view text) {
    return parse(text, vocabulary());
}

const Node& root(const Formula& formula) {
    return formula[formula.root];
}

std::string_view text_of(const Formula& formula, Span span) {
    return std::string_view(formula.text)
        .substr(span.begin, span.end - span.begin);
}

Code code_of(const std::string& text) {
    try {
        read(text);
    } catch (const Error& error) {
        return error.code();
    }
    return Code::InternalError;
}

std::string repeat(int count, std::string_view part) {
    std::string text;
    for (int index = 0; index < count; ++index)
        text += part;
    return text;
}

} // namespace

TEST(Tree, HoldsChildrenBeforeTheirParents) {
    const Formula formula =
        read("c_i + (sum_j k(x_i,y_j) d_j)/(sum_j k(x_i,y_j))"
             " with k(u,v) = exp(-|u-v|²/2s²), t = 2s");
    for (std::size_t id = 0; id < formula.nodes.size(); ++id)
        for (const ast::NodeId child : formula.nodes[id].children)
            EXPECT_LT(child, id);
}

TEST(Tree, KeepsTheTextAndTheSpans) {
    const Formula formula = read("sum_j exp(-|x_i - y_j|²/2l²) b_j");
    EXPECT_EQ(formula.text, "sum_j exp(-|x_i - y_j|²/2l²) b_j");
    EXPECT_EQ(text_of(formula, root(formula).span), formula.text);
    for (const Node& node : formula.nodes) {
        EXPECT_LT(node.span.begin, node.span.end);
        const std::string_view text = text_of(formula, node.span);
        if (node.name == "norm") {
            EXPECT_EQ(text, "|x_i - y_j|");
        } else if (node.name == "exp") {
            EXPECT_EQ(text, "exp(-|x_i - y_j|²/2l²)");
        } else if (node.name == "b") {
            EXPECT_EQ(text, "b_j");
        }
    }
}

TEST(Tree, TellsNamesVariablesAndIndices) {
    const Formula name = read("sigma");
    EXPECT_EQ(root(name).kind, Kind::Name);
    EXPECT_EQ(root(name).axes, Axes::None);
    const Formula variable = read("x_train_j");
    EXPECT_EQ(root(variable).kind, Kind::Variable);
    EXPECT_EQ(root(variable).name, "x_train");
    EXPECT_EQ(root(variable).axes, Axes::J);
    const Formula index = read("i");
    EXPECT_EQ(root(index).kind, Kind::Index);
    EXPECT_EQ(root(index).axes, Axes::I);
}

TEST(Tree, MarksImplicitProducts) {
    EXPECT_TRUE(root(read("2 x_i")).implicit);
    EXPECT_FALSE(root(read("2*x_i")).implicit);
    EXPECT_FALSE(equal(read("2 x_i"), read("2*x_i")));
}

TEST(Tree, HoldsSubscripts) {
    const Formula component = read("x_i[-1]");
    EXPECT_EQ(root(component).first, -1);
    EXPECT_FALSE(root(component).is_range);
    const Formula range = read("x_i[:3]");
    EXPECT_TRUE(root(range).is_range);
    EXPECT_EQ(root(range).first, std::nullopt);
    EXPECT_EQ(root(range).last, 3);
}

TEST(Tree, HoldsReductionsWithTheirArguments) {
    const Formula formula = read("argkmin_j(|x_i - y_j|², 10)");
    EXPECT_EQ(root(formula).kind, Kind::Reduce);
    EXPECT_EQ(root(formula).name, "argkmin");
    EXPECT_EQ(root(formula).axes, Axes::J);
    ASSERT_EQ(root(formula).children.size(), 2U);
    EXPECT_EQ(formula[root(formula).children[1]].value, 10);
    EXPECT_EQ(root(read("sum_ij x_i·y_j")).axes, Axes::IJ);
}

TEST(Tree, SharesTheMiddleOfAChain) {
    const Formula formula = read("0 <= i - j < 3");
    ASSERT_EQ(root(formula).name, "and");
    const Node& first = formula[root(formula).children[0]];
    const Node& second = formula[root(formula).children[1]];
    EXPECT_EQ(first.children[1], second.children[0]);
}

TEST(Tree, HoldsHeadAndDefinitions) {
    const Formula formula =
        read("k(x, y) = s f(|x - y|) with s = 2t, f(r) = exp(-r)");
    ASSERT_TRUE(formula.head.has_value());
    EXPECT_EQ(formula.head->name, "k");
    EXPECT_EQ(formula.head->parameters, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(formula.head->body, formula.root);
    ASSERT_EQ(formula.definitions.size(), 2U);
    EXPECT_EQ(formula.definitions[0].name, "s");
    EXPECT_FALSE(formula.definitions[0].is_function);
    EXPECT_EQ(formula.definitions[1].parameters, std::vector<std::string>{"r"});
    EXPECT_TRUE(formula.definitions[1].is_function);
    EXPECT_EQ(text_of(formula, formula.definitions[1].span), "f");
}

TEST(Tree, IsOneForAllSpellings) {
    const Formula formula = read("sum_j exp(-|x_i - y_j|^2/2l^2) b_j");
    for (const std::string_view other : {
             "∑ⱼ exp(−|xᵢ−yⱼ|²/2ℓ²) bⱼ",
             "Σ_j exp(-‖x_i - y_j‖**2/2l**2) b_j",
             "sum_j exp(-||x_i - y_j||²/2l²) b_j",
             "sum_j\u00a0exp(-∥x_i - y_j∥²÷2l²)\u2009b_j",
             "sum_j exp（-｜x_i - y_j｜²／2l²） b_j",
             "sum_j\n    exp(-|x_i - y_j|²/2𝑙²)\n    b_j",
         })
        EXPECT_TRUE(equal(read(other), formula)) << other;
    EXPECT_TRUE(equal(read("σ_f"), read("sigma_f")));
    EXPECT_TRUE(equal(read("λ x_i"), read("lambda_ x_i")));
    EXPECT_TRUE(equal(read("x_i⋅y_j × 2"), read("x_i·y_j * 2")));
    EXPECT_TRUE(equal(read("x ≤ y ≠ ∞"), read("x <= y != inf")));
}

TEST(Limits, AreErrors) {
    EXPECT_EQ(code_of(repeat(1'000'000, "x")), Code::FormulaTooLong);
    EXPECT_EQ(code_of(repeat(1'000'000, "(")), Code::FormulaTooLong);
    EXPECT_EQ(code_of(repeat(30'000, "x+") + "x"), Code::ChainTooLong);
    EXPECT_EQ(code_of(repeat(30'000, "x*-") + "x"), Code::ChainTooLong);
    EXPECT_EQ(code_of("[" + repeat(30'000, "x,") + "x]"), Code::TooManyNodes);
}

TEST(Limits, HoldForWhateverNests) {
    constexpr int many = 10'000;
    for (const std::string_view part :
         {"(", "[", "|", "-", "√", "exp(", "not ", "sum_j ", "x^", "x^-", "‖",
          "2(", "|(", "where(0,", "sum_j(", "x/("})
        EXPECT_EQ(code_of(repeat(many, part) + "x"), Code::NestingTooDeep)
            << part;
}

TEST(Limits, CountAChainOfComparisonsAsItIsRead) {
    // Each middle is read twice: 2^20 comparisons.
    EXPECT_EQ(code_of(repeat(20, "0 < (") + "x" + repeat(20, ") < 1")),
              Code::TooManyNodes);
}

TEST(Limits, LeaveRoomForLongFormulas) {
    const Formula sum = read(repeat(900, "x_i*2 + ") + "x_i");
    EXPECT_EQ(sum.nodes.size(), 900U * 4 + 1);
    EXPECT_TRUE(equal(read(print(sum)), sum));
    const Formula nested = read(repeat(250, "(") + "x" + repeat(250, ")"));
    EXPECT_EQ(nested.nodes.size(), 1U);
}

TEST(Limits, TakeNoTimeToReach) {
    const std::clock_t begin = std::clock(); // of this process alone
    for (const std::string_view part :
         {"(", ")",  "|",      "| ",    "x ", "x|",     "x_i^2 ", "a/", "2",
          ".", "1e", "sum_j ", "a_j/(", "k(", "with ",  ",",      "[",  "ᵢ",
          "²", "x'", "Σⱼ",     "a = ",  "a,", "x mod ", "1<",     "_"}) {
        const std::string text =
            repeat(static_cast<int>(99'999 / part.size()), part);
        try {
            read(text);
        } catch (const Error& error) {
            EXPECT_EQ(error.family(), Family::Formula);
        }
    }
    EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

} // namespace tilefold::tests
