// tests/formulas/test_excerpt.cpp - the shown line and its caret.
#include "formulas/excerpt.h"

#include <gtest/gtest.h>

namespace tilefold::tests {

namespace {

/// The span of the first `part` in `text`.
Span span_of(const std::string& text, const std::string& part) {
    const auto begin = static_cast<std::uint32_t>(text.find(part));
    return {begin, begin + static_cast<std::uint32_t>(part.size())};
}

std::string shown(const std::string& text, const std::string& part) {
    return excerpt(text, span_of(text, part));
}

} // namespace

TEST(Excerpt, UnderlinesTheSpan) {
    EXPECT_EQ(shown("a + bcd * e", "bcd"), "  a + bcd * e\n"
                                           "      ^~~");
}

TEST(Excerpt, CountsCharactersNotBytes) {
    EXPECT_EQ(shown("exp(-|x−y|²/2ℓ²) foo", "foo"), "  exp(-|x−y|²/2ℓ²) foo\n"
                                                    "                   ^~~");
}

TEST(Excerpt, CountsWideCharactersAsTwoColumns) {
    EXPECT_EQ(shown("重み_j * 距離", "距離"), "  重み_j * 距離\n"
                                              "           ^~~~");
}

TEST(Excerpt, CountsCombiningMarksAsNone) {
    EXPECT_EQ(shown("x\u0302 + y", "y"), "  x\u0302 + y\n"
                                         "      ^");
}

TEST(Excerpt, KeepsTabs) {
    EXPECT_EQ(shown("a\t+\tb * c", "b * c"), "  a\t+\tb * c\n"
                                             "   \t \t^~~~~");
}

TEST(Excerpt, ShowsTheLineOfTheSpan) {
    const std::string text = "sum_j exp(\n    -|x_i - y_j|²\n) b_j";
    EXPECT_EQ(shown(text, "y_j"), "      -|x_i - y_j|²\n"
                                  "              ^~~");
    EXPECT_EQ(shown(text, "b_j"), "  ) b_j\n"
                                  "    ^~~");
}

TEST(Excerpt, EndsALongSpanWithItsLine) {
    EXPECT_EQ(shown("a (b\nc) d", "(b\nc)"), "  a (b\n"
                                             "    ^~");
}

TEST(Excerpt, IgnoresCarriageReturns) {
    EXPECT_EQ(shown("a\r\nb + c\r\nd", "c"), "  b + c\n"
                                             "      ^");
}

TEST(Excerpt, ReplacesWhatCannotBeShown) {
    EXPECT_EQ(shown("a\x01\xFF + b", "b"), "  a�� + b\n"
                                           "        ^");
}

TEST(Excerpt, CutsLongLinesAroundTheSpan) {
    const std::string many = std::string(200, 'a');
    const std::string text = many + " + here + " + many;
    const std::string lines = shown(text, "here");
    const std::size_t line_end = lines.find('\n');
    const std::string line = lines.substr(0, line_end);
    EXPECT_TRUE(line.starts_with("  …a"));
    EXPECT_TRUE(line.ends_with("a…"));
    // Two marks of three bytes each stand in one column each.
    EXPECT_EQ(line.size() - 4, 100U);
    const std::size_t column = line.find("here") - 2; // in columns
    EXPECT_EQ(lines.substr(line_end + 1), std::string(column, ' ') + "^~~~");
}

TEST(Excerpt, CutsOnlyOneSideAtAnEnd) {
    const std::string text = "here + " + std::string(200, 'a');
    const std::string line = shown(text, "here");
    EXPECT_TRUE(line.starts_with("  here + aaa"));
    EXPECT_NE(line.find("a…\n  ^~~~"), std::string::npos);
}

TEST(Excerpt, ShowsTheStartOfASpanTooLongForTheLine) {
    const std::string text = "b " + std::string(300, 'a');
    const std::string lines = excerpt(text, {2, 302});
    EXPECT_TRUE(lines.starts_with("  "));
    EXPECT_LE(lines.find('\n'), 104U);
    EXPECT_NE(lines.find("^~~~"), std::string::npos);
}

TEST(Excerpt, IsShortWhateverTheFormulaIs) {
    std::string accents = "a", letters(10'000'000, 'a');
    for (int k = 0; k < 2'000'000; ++k)
        accents += "\u0301";
    for (const std::string& text : {accents + " + b", letters, "b" + accents})
        for (const Span span :
             {Span{}, Span{0, 1}, Span{1'000'001, 1'000'003},
              Span{std::uint32_t(text.size() - 1), std::uint32_t(text.size())}})
            EXPECT_LE(excerpt(text, span).size(), 8000u);
    EXPECT_LE(shorten(accents, 40).size(), 4000u);
    // What lies beyond is marked.
    EXPECT_TRUE(excerpt(letters, {}).ends_with("a…"));
    const std::string place =
        excerpt(letters + "?" + letters, {10'000'000, 10'000'001});
    EXPECT_TRUE(place.starts_with("  …a"));
    EXPECT_NE(place.find("?"), std::string::npos);
}

TEST(Excerpt, ShowsAllLinesWithoutAPlace) {
    EXPECT_EQ(excerpt("a +\nb", {}), "  a +\n  b");
    const std::string many = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    EXPECT_TRUE(excerpt(many, {}).ends_with("  8\n  …"));
}

TEST(Shorten, CutsByColumns) {
    EXPECT_EQ(shorten("abcdef", 6), "abcdef");
    EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
    EXPECT_EQ(shorten("距離距離", 6), "距離…");
    EXPECT_EQ(shorten("a\nb", 6), "a�b");
}

} // namespace tilefold::tests
