// tests/compiler/test_names.cpp - which names a formula reads, and what the
// arrays' dtypes make it compute in.

#include "compiler/language/vocabulary.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

/// "x:i y:j l:"
std::string names_of(std::string_view formula) {
    std::string text;
    for (const FreeName& name : free_names(parse(formula, vocabulary())))
        text += (text.empty() ? "" : " ") + name.name + ":" +
                std::string(spelling_of(name.axes));
    return text;
}

TEST(FreeNames, CarryTheirAxes) {
    EXPECT_EQ(names_of("sum_j exp(-|x_i - y_j|²/2l²) b_j"), "x:i y:j l: b:j");
    EXPECT_EQ(names_of("sum_j exp(-|x_i - x_j|²) x_train_i[0]"),
              "x:ij x_train:i");
}

TEST(FreeNames, WithoutSubscriptsXIsOnIAndYOnJ) {
    EXPECT_EQ(names_of("exp(-|x-y|²/2l²)"), "x:i y:j l:");
    EXPECT_EQ(names_of("sum_j exp(-|x-y|²)"), "x:i y:j");
    EXPECT_EQ(names_of("exp(-|x-y|²) b_j"), "x: y: b:j");
}

TEST(FreeNames, AHeadNamesTheVariables) {
    EXPECT_EQ(names_of("k(u, v) = exp(-|u-v|²/x)"), "u:i v:j x:");
    EXPECT_EQ(names_of("f(u) = u + y"), "u:i y:");
}

TEST(FreeNames, OfDefinitionsThatAreUsed) {
    EXPECT_EQ(names_of("k(x_i, y_j) with k(u, v) = u*v/l, s = m"),
              "x:i y:j l:");
    EXPECT_EQ(names_of("s x_i with t = a + b, s = t^2"), "x:i a: b:");
}

TEST(FreeNames, ConstantsAreNone) {
    EXPECT_EQ(names_of("pi * x_i + inf + nan"), "x:i");
}

TEST(FreeNames, HaveOneSpelling) {
    EXPECT_EQ(names_of("σ x_i + sigma y_j + λ"), "sigma: x:i y:j lambda:");
}

DType computed_in(std::string_view types,
                  std::string_view text = "sum_j l x_i y_j") {
    const auto formula = parse(text, vocabulary());
    return computing_dtype(arguments(types), free_names(formula));
}

TEST(ComputingDType, IsTheArraysPromotion) {
    EXPECT_EQ(computed_in("x f32, y f32, l f64"), DType::F32);
    EXPECT_EQ(computed_in("x f32, y f64, l f32"), DType::F64);
    EXPECT_EQ(computed_in("x f16, y bf16, l f64"), DType::F32);
    EXPECT_EQ(computed_in("x i16, y u8, l f64"), DType::F32);
    EXPECT_EQ(computed_in("x i32, y f32, l f64"), DType::F64);
    EXPECT_EQ(computed_in("x bool, y f32, l f64"), DType::F32);
    EXPECT_EQ(computed_in("l f32"), DType::F64);
}

TEST(ComputingDType, IsNotThatOfSubscripts) {
    constexpr auto text = "sum_j T[c_i, a_j[0]] x_j";
    EXPECT_EQ(computed_in("x f32, c i64, a i64, T f64[3,3]", text), DType::F32);
    EXPECT_EQ(computed_in("x f64, c i64, a i64, T f32[3,3]", text), DType::F64);
    // What is read as a number, too, counts.
    EXPECT_EQ(computed_in("c i64, x f32, T f32[3]", "sum_j T[c_j] c_j x_j"),
              DType::F64);
}

TEST(ComputingDType, IsThatOfTablesWhereThereAreSubscriptsAlone) {
    EXPECT_EQ(computed_in("c i64, T f32[3]", "sum_j T[c_j]"), DType::F32);
    EXPECT_EQ(computed_in("c i16, T f64[3]", "sum_j T[c_j]"), DType::F64);
}

} // namespace
} // namespace tilefold::tests
