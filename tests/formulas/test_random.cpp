// tests/formulas/test_random.cpp - whatever is typed gives a tree or an
// Error; whatever is printed reads back.
#include "formulas/equal.h"
#include "formulas/keops_syntax.h"
#include "formulas/parser.h"
#include "formulas/printer.h"
#include "formulas/readings.h"
#include "tests/formulas/random_tree.h"
#include "tests/formulas/vocabulary.h"

#include <gtest/gtest.h>
#include <iterator>

namespace tilefold::tests {

namespace {

constexpr int rounds = 10'000;

constexpr const char* pieces[] = {
    "x_i",    "y_j",        "b_j",        "l",     "σ_f",    "λ",      "i",
    "j",      "2",          "0.5",        "1e-3",  "²",      "⁻¹",     "ⁿ",
    "+",      "-",          "*",          "/",     "·",      "@",      "^",
    "**",     "mod",        "%",          "(",     ")",      "(",      ")",
    "|",      "|",          "||",         "‖",     "[",      "]",      ",",
    ";",      ":",          "=",          "==",    "<",      "<=",     "≠",
    "and",    "or",         "not",        "√",     "exp",    "exp(",   "sin",
    "where(", "sum_j",      "sum_j(",     "sum_i", "sum_ij", "Σⱼ",     "∑",
    "max_j",  "argkmin_j(", "softmax_j(", "with",  "k(u,v)", "k(",     "s",
    "u",      "x",          "y",          "x_0",   "xᵢ",     "yⱼ",     "[0]",
    "[0:3]",  "[-1]",       " ",          " ",     " ",      "\n",     "\t",
    "\u00a0", "∞",          "π",          "if",    "'",      "\\frac", "{",
    "}",      "−",          "½",          "foo(",  "foo_j(", "2j",     "_i",
    "距離",   "Exp(",       "SqDist(",    "ᵀ",     "^T",     "⟨",      "⟩",
    "m_j",    "(i≠j)",      "[i≠j]",      "ln(",   "N",      "√5",     "3/2",
    "/2",     "sum_{j≠i}",  "1{",         "₁",     "_1",     "_+",     "where",
    "δ_ij",   "avg_j(",     "exp(i*",     "cos(",  "im",     "i*sin(", "π",
};

std::string token_soup(Random& random) {
    std::string text;
    const int length = 1 + below(random, 14);
    for (int index = 0; index < length; ++index) {
        text += pieces[below(random, std::size(pieces))];
        if (below(random, 3) == 0)
            text += ' ';
    }
    return text;
}

std::string byte_soup(Random& random) {
    std::string text;
    const int length = 1 + below(random, 40);
    const bool ascii = below(random, 2) == 0;
    for (int index = 0; index < length; ++index)
        text += static_cast<char>(below(random, ascii ? 128 : 256));
    return text;
}

/// Parses, and if that succeeds prints and parses again.
bool survives(const std::string& text) {
    try {
        const ast::Formula tree = parse(text, vocabulary());
        const std::string printed = print(tree);
        EXPECT_FALSE(print_readings(tree).empty());
        try {
            EXPECT_TRUE(equal(parse(printed, vocabulary()), tree))
                << text << "\n"
                << printed;
        } catch (const Error& error) {
            ADD_FAILURE() << text << "\n" << printed << "\n" << error.what();
        }
        return true;
    } catch (const Error& error) {
        EXPECT_EQ(error.family(), Family::Formula) << text << error.what();
        EXPECT_LE(error.span().end, text.size()) << text;
        return false;
    }
}

} // namespace

TEST(Random, TokensGiveATreeOrAnError) {
    Random random(1);
    int trees = 0;
    for (int round = 0; round < rounds; ++round)
        trees += survives(token_soup(random)) ? 1 : 0;
    EXPECT_GT(trees, rounds / 100); // else this tests little
}

TEST(Random, BytesGiveATreeOrAnError) {
    Random random(2);
    for (int round = 0; round < rounds; ++round)
        survives(byte_soup(random));
}

TEST(Random, EditsOfAFormulaGiveATreeOrAnError) {
    const std::string formula =
        "c_i + (sum_j k(x_i,y_j) d_j)/(sum_j k(x_i,y_j))"
        " with k(u,v) = exp(-|u-v|²/2s²)";
    Random random(3);
    for (int round = 0; round < rounds; ++round) {
        std::string text = formula;
        for (int edits = 1 + below(random, 3); edits > 0; --edits) {
            const auto at = static_cast<std::size_t>(
                below(random, static_cast<int>(text.size())));
            if (below(random, 2) == 0)
                text.erase(at, 1);
            else
                text.insert(at, pieces[below(random, std::size(pieces))]);
        }
        survives(text);
    }
}

TEST(Random, TreesPrintToTextThatParsesToAnEqualTree) {
    Random random(4);
    for (int round = 0; round < rounds / 2; ++round) {
        const ast::Formula tree = random_formula(random, 1 + round % 5);
        const std::string text = print(tree);
        try {
            ASSERT_TRUE(equal(parse(text, vocabulary()), tree)) << text;
        } catch (const Error& error) {
            FAIL() << text << "\n" << error.what();
        }
    }
}

TEST(Random, KeopsTokensGiveATreeOrAnError) {
    const std::vector<std::string> aliases = {"x_i = Vi(3)", "y_j = Vj(3)",
                                              "l = Pm(1)"};
    Random random(5);
    for (int round = 0; round < rounds; ++round) {
        const std::string text = token_soup(random);
        try {
            const auto parsed = parse_keops(
                text, aliases, {"Sum", ast::Axes::J, "", {}}, vocabulary());
            EXPECT_FALSE(print(parsed.formula).empty());
        } catch (const Error& error) {
            EXPECT_EQ(error.family(), Family::Formula) << text;
        }
    }
}

} // namespace tilefold::tests
