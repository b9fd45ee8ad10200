// tests/formulas/test_diagnostics.cpp - the table of messages and fail().
#include "formulas/diagnostic.h"

#include <cctype>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace tilefold::tests {

namespace {

struct Row {
    std::string_view name;
    Family family;
    std::string_view found;
    std::string_view cure;
};

const Row rows[] = {
#define DIAGNOSTIC(code, family, found, cure)                                  \
    {#code, Family::family, found, cure},
#include "formulas/diagnostics.def"
#undef DIAGNOSTIC
};

bool starts_lower(std::string_view text) {
    const bool symbol = text.size() > 1 && !std::isalpha(text[1]); // K[3]
    return !std::isupper(text[0]) || symbol || text.starts_with("LaTeX") ||
           text.starts_with("KeOps");
}

Error thrown(Code code, Place place,
             std::initializer_list<std::string> arguments) {
    try {
        fail(code, place, arguments);
    } catch (const Error& error) {
        return error;
    }
}

} // namespace

TEST(Diagnostics, AreLowerCaseWithoutFullStop) {
    for (const Row& row : rows) {
        EXPECT_FALSE(row.found.empty()) << row.name;
        for (const std::string_view text : {row.found, row.cure})
            if (!text.empty()) {
                EXPECT_TRUE(starts_lower(text)) << text;
                EXPECT_NE(text.back(), '.') << text;
                EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
            }
    }
}

TEST(Diagnostics, DifferFromEachOther) {
    std::set<std::string_view> names, texts;
    for (const Row& row : rows) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        texts.insert(row.found);
    }
    EXPECT_GT(texts.size(), names.size() * 9 / 10);
}

TEST(Diagnostics, CarryCodeFamilyFormulaAndSpan) {
    const std::string formula = "a + k(x)";
    const Error error = thrown(Code::UnknownFunction, {formula, {4, 5}}, {"k"});
    EXPECT_EQ(error.code(), Code::UnknownFunction);
    EXPECT_EQ(error.code_name(), "UnknownFunction");
    EXPECT_EQ(error.family(), Family::Formula);
    EXPECT_EQ(error.formula(), formula);
    EXPECT_EQ(error.span(), (Span{4, 5}));
    EXPECT_STREQ(error.what(),
                 "unknown function 'k'; for a product write k*(…)\n"
                 "  a + k(x)\n"
                 "      ^\n"
                 "or define it after the formula: … with k(u, v) = …");
}

TEST(Diagnostics, ShowNoFormulaWhereThereIsNone) {
    const Error error = thrown(Code::MissingArgument, {}, {"b"});
    EXPECT_EQ(error.family(), Family::Argument);
    EXPECT_STREQ(error.what(), "the formula needs 'b', which was not given\n"
                               "pass b=…");
}

TEST(Diagnostics, ShowTheFormulaWithoutACaretWhereNoPlaceIsKnown) {
    const Error error = thrown(Code::MissingArgument, {"a_i + b_j", {}}, {"b"});
    EXPECT_STREQ(error.what(), "the formula needs 'b', which was not given\n"
                               "  a_i + b_j\n"
                               "pass b=…");
}

TEST(Diagnostics, LeaveOutAnEmptyCure) {
    const Error error = thrown(Code::Cancelled, {}, {"12%"});
    EXPECT_STREQ(error.what(), "cancelled after 12% of the work");
    EXPECT_EQ(error.family(), Family::Cancelled);
}

TEST(Diagnostics, AnnounceBugsAsOurs) {
    try {
        internal_error("a tile of no rows");
    } catch (const Error& error) {
        EXPECT_EQ(error.family(), Family::Internal);
        EXPECT_TRUE(std::string(error.what())
                        .starts_with("internal error: a tile of no rows\n"));
    }
}

} // namespace tilefold::tests
