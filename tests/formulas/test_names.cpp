// tests/formulas/test_names.cpp - when two spellings are one name.
#include "formulas/names.h"

#include <gtest/gtest.h>

namespace tilefold::tests {

TEST(Names, OfGreekLettersAreTheirAsciiNames) {
    EXPECT_EQ(normalise_name("λ"), "lambda");
    EXPECT_EQ(normalise_name("lambda_"), "lambda");
    EXPECT_EQ(normalise_name("lambda"), "lambda");
    EXPECT_EQ(normalise_name("σ_f"), normalise_name("sigma_f"));
    EXPECT_EQ(normalise_name("Σ"), "Sigma");
    EXPECT_EQ(normalise_name("Δx"), "Deltax");
    EXPECT_EQ(normalise_name("ς"), "sigma");
    EXPECT_EQ(normalise_name("π"), "pi");
}

TEST(Names, OfLookAlikesAreOne) {
    EXPECT_EQ(normalise_name("ℓ"), "l");
    EXPECT_EQ(normalise_name("µ"), "mu"); // the micro sign
    EXPECT_EQ(normalise_name("ϵ"), "epsilon");
    EXPECT_EQ(normalise_name("ϕ"), "phi");
    EXPECT_EQ(normalise_name("∆"), "Delta"); // the increment
    EXPECT_EQ(normalise_name("Ω"), "Omega"); // the ohm sign
    EXPECT_EQ(normalise_name("𝛾"), "gamma"); // mathematical italics
    EXPECT_EQ(normalise_name("𝑥"), "x");
    EXPECT_EQ(normalise_name("ｘ"), "x");
    EXPECT_EQ(normalise_name("e\u0301"), "\u00e9");
}

TEST(Names, WithLoweredCharactersHaveAsciiSubscripts) {
    EXPECT_EQ(normalise_name("x₀"), "x_0");
    EXPECT_EQ(normalise_name("xᵢ"), "x_i");
    EXPECT_EQ(normalise_name("x_ᵢ"), "x_i");
    EXPECT_EQ(normalise_name("x₁ᵢ"), "x_1_i");
    EXPECT_EQ(normalise_name("sumᵢⱼ"), "sum_ij");
}

TEST(Names, AreOtherwiseKept) {
    for (const std::string_view name :
         {"x", "x_train", "X", "重み", "straße", "_x", "x_", "lambda_f", ""})
        EXPECT_EQ(normalise_name(name), name);
    EXPECT_EQ(normalise_name("\xFF"), "\xFF");
}

TEST(Names, AreNormalisedOnce) {
    for (const std::string_view name : {"λ", "σ_f", "ℓ", "x₁ᵢ", "Δx", "∆"}) {
        const std::string once = normalise_name(name);
        EXPECT_EQ(normalise_name(once), once);
    }
}

TEST(Names, CarryAnAxisOnlyAtTheirEnd) {
    using ast::Axes;
    const auto axes = [](std::string_view name) {
        return split_subscript(name).axes;
    };
    EXPECT_EQ(axes("x_i"), Axes::I);
    EXPECT_EQ(axes("x_train_j"), Axes::J);
    EXPECT_EQ(axes("sum_ij"), Axes::IJ);
    EXPECT_EQ(axes("sum_ji"), Axes::IJ);
    for (const std::string_view plain :
         {"x", "xi", "x_train", "x_ik", "x_i_", "_i", "i", "x_I", "x_0"})
        EXPECT_EQ(axes(plain), Axes::None) << plain;
    EXPECT_EQ(split_subscript("x_train_i").stem, "x_train");
}

TEST(Names, NearOneAreOffered) {
    const std::vector<std::string> names = {"exp", "sin", "sqrt", "logsumexp",
                                            "where"};
    EXPECT_EQ(nearest_name("expp", names), "exp");
    EXPECT_EQ(nearest_name("Exp", names), "exp");
    EXPECT_EQ(nearest_name("sqtr", names), "sqrt");
    EXPECT_EQ(nearest_name("logsumxep", names), "logsumexp");
    EXPECT_EQ(nearest_name("wher", names), "where");
    EXPECT_EQ(nearest_name("k", names), std::nullopt);
    EXPECT_EQ(nearest_name("kernel", names), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(1000, 'x'), names), std::nullopt);
}

} // namespace tilefold::tests
