// tests/formulas/test_corpus.cpp - corpus.txt: formulas, and how they are
// read or refused.
#include "formulas/equal.h"
#include "formulas/lexer.h"
#include "formulas/parser.h"
#include "formulas/printer.h"
#include "formulas/readings.h"
#include "formulas/symbols.h"
#include "tests/formulas/golden.h"
#include "tests/formulas/vocabulary.h"

#include <cctype>
#include <gtest/gtest.h>

namespace tilefold::tests {

namespace {

/// The reading, or ✗ and the first line of the refusal.
std::string outcome(const std::string& text) {
    try {
        return print_readings(parse(text, vocabulary()));
    } catch (const Error& error) {
        return "✗ " + first_line(error.what());
    }
}

bool is_case(const std::string& line) {
    return !line.empty() && !line.starts_with('#');
}

std::string formula_of(const std::string& line) {
    std::string text = line.substr(0, line.find(arrow));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

/// The lines that are formulas, as typed.
std::vector<std::string> corpus() {
    std::vector<std::string> formulas;
    for (const std::string& line : lines_of(read_golden("corpus.txt")))
        if (is_case(line))
            formulas.push_back(expand(formula_of(line)));
    return formulas;
}

bool is_word(const Token& token) {
    return token.kind == TokenKind::Name || token.kind == TokenKind::Number ||
           std::isalpha(static_cast<unsigned char>(
               (std::string(spelling(token.kind)) + "(")[0])) != 0;
}

/// The tokens of `formula` with as many or as few spaces as there can be.
std::string spaced(const std::string& formula, bool wide) {
    std::string text;
    const Token* previous = nullptr;
    const auto tokens = tokenise(formula);
    for (const Token& token : tokens) {
        const bool needed =
            previous != nullptr && is_word(*previous) && is_word(token);
        text += wide || needed ? " " : "";
        text +=
            formula.substr(token.span.begin, token.span.end - token.span.begin);
        previous = &token;
    }
    return text;
}

} // namespace

TEST(Corpus, IsReadAsWritten) {
    std::string written;
    for (const std::string& line : lines_of(read_golden("corpus.txt"))) {
        std::string wanted = line;
        if (is_case(line)) {
            const std::string formula = formula_of(line);
            wanted =
                formula + std::string(arrow) + " " + outcome(expand(formula));
            if (!updating_golden()) {
                EXPECT_EQ(line, wanted);
            }
        }
        written += wanted + "\n";
    }
    if (updating_golden())
        write_golden("corpus.txt", written);
}

TEST(Corpus, IsLarge) {
    EXPECT_GE(corpus().size(), 150U);
}

TEST(Corpus, PrintsToTextThatParsesToAnEqualTree) {
    for (const std::string& formula : corpus()) {
        try {
            const ast::Formula tree = parse(formula, vocabulary());
            const std::string text = print(tree);
            EXPECT_TRUE(equal(parse(text, vocabulary()), tree))
                << formula << "\n"
                << text;
        } catch (const Error& error) {
            EXPECT_TRUE(outcome(formula).starts_with("✗")) << formula << "\n"
                                                           << error.what();
        }
    }
}

TEST(Corpus, MeansTheSameHoweverItIsSpaced) {
    int unchanged = 0;
    for (const std::string& formula : corpus()) {
        if (outcome(formula).starts_with("✗"))
            continue;
        const ast::Formula tree = parse(formula, vocabulary());
        for (const bool wide : {false, true}) {
            const std::string text = spaced(formula, wide);
            try {
                EXPECT_TRUE(equal(parse(text, vocabulary()), tree)) << text;
                ++unchanged;
            } catch (const Error& error) {
                EXPECT_EQ(error.family(), Family::Formula) << text;
            }
        }
    }
    EXPECT_GT(unchanged, 300);
}

TEST(Corpus, PrintsCanonicalTextToItself) {
    for (const std::string& formula : corpus())
        if (!outcome(formula).starts_with("✗")) {
            const std::string text = print(parse(formula, vocabulary()));
            EXPECT_EQ(print(parse(text, vocabulary())), text);
        }
}

} // namespace tilefold::tests
