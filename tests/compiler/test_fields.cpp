// tests/compiler/test_fields.cpp - named numbers and texts come back as they
// were, and nothing else is read as some.

#include "compiler/artifact/fields.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace tilefold::test {
namespace {

enum class Colour : std::uint8_t { Red, Blue = 7 };

Fields again(const Fields& fields) {
    const auto read = Fields::parse(fields.text());
    EXPECT_TRUE(read);
    return read.value_or(Fields());
}

template <class Value> Value back(Value value) {
    Fields fields;
    fields.set("value", value);
    Value read{};
    again(fields).get("value", read);
    return read;
}

TEST(Fields, NumbersComeBackExactly) {
    EXPECT_EQ(back(std::numeric_limits<std::int64_t>::min()),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(back(std::numeric_limits<std::uint64_t>::max()),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(back(std::uint8_t(200)), 200);
    EXPECT_EQ(back(Colour::Blue), Colour::Blue);
    EXPECT_TRUE(back(true));
    EXPECT_FALSE(back(false));
    for (double value : {0.1, -1e300, 5e-324, 0.0})
        EXPECT_EQ(back(value), value);
    EXPECT_TRUE(std::isinf(back(std::numeric_limits<double>::infinity())));
}

TEST(Fields, TextsComeBackWhateverTheyHold) {
    for (const std::string& text :
         {std::string(), std::string("a b"), std::string("two\nlines\\n"),
          std::string("\xff\0x", 3)})
        EXPECT_EQ(back(text), text);
}

TEST(Fields, WhatIsMissingOrOfAnotherTypeIsAnError) {
    Fields fields;
    fields.set("text", "12 apples");
    fields.set("large", 300);
    int number = 5;
    EXPECT_THROW(fields.get("none", number), FieldError);
    EXPECT_THROW(fields.get("text", number), FieldError);
    EXPECT_EQ(number, 5);
    std::uint8_t small = 5;
    EXPECT_THROW(fields.get("large", small), FieldError);
    EXPECT_EQ(small, 5);
    EXPECT_FALSE(fields.has("none"));
    EXPECT_TRUE(fields.has("text"));
}

TEST(Fields, OnlyLinesOfFieldsAreRead) {
    EXPECT_TRUE(Fields::parse(""));
    for (const char* text :
         {"a 1", "a\n", "a 1\na 2\n", "a \\\n", "a \\x\n", "\n", "{\"a\": 1}"})
        EXPECT_FALSE(Fields::parse(text)) << text;
}

} // namespace
} // namespace tilefold::test
