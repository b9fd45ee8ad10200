// tests/compiler/test_key.cpp - what the key of an image depends on.

#include "compiler/language/vocabulary.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tilefold::tests {
namespace {

constexpr std::string_view with_numbers = "x f32[3], y f32[3], b f32";

std::string key_of(std::string_view formula, std::string_view types,
                   const CpuOptions& options = {}) {
    return cpu_program_of(formula, types, Mode::Reduce, options).key.hex();
}

TEST(Key, IsOneForAThousandConstants) {
    std::mt19937 random(7);
    std::set<std::string> keys;
    for (int k = 0; k < 1000; ++k) {
        const std::string c = std::to_string(1 + random() % 100000);
        const std::string d = std::to_string(double(random()) / 7) + "1";
        keys.insert(key_of("sum_j exp(-|x_i - y_j|²/" + c + ") b_j * " + d,
                           with_numbers));
    }
    EXPECT_EQ(keys.size(), 1u);
}

TEST(Key, IsOneForEqualConstantsInDifferentPlaces) {
    EXPECT_EQ(key_of("sum_j exp(-|x_i - y_j|²/2) b_j * 2", with_numbers),
              key_of("sum_j exp(-|x_i - y_j|²/2) b_j * 3", with_numbers));
    EXPECT_EQ(key_of("max_j (2*x_i + 2*y_j)", "x f32, y f32"),
              key_of("max_j (2*x_i + 5*y_j)", "x f32, y f32"));
}

TEST(Key, IgnoresNames) {
    EXPECT_EQ(key_of("sum_j exp(-|x_i - y_j|²/l) b_j",
                     "x f32[3], y f32[3], b f32, l f64"),
              key_of("sum_j exp(-|u_i - v_j|²/σ) w_j",
                     "v f32[3], w f32, u f32[3], σ f64"));
}

TEST(Key, IgnoresHowTheSameIsWritten) {
    const std::string key =
        key_of("sum_j exp(-|x_i - y_j|²) b_j", with_numbers);
    EXPECT_EQ(key, key_of("sum_j b_j exp(-|y_j - x_i|²)", with_numbers));
    EXPECT_EQ(
        key, key_of("sum_j b_j * exp(-(x_i - y_j)·(x_i - y_j))", with_numbers));
    EXPECT_EQ(key, key_of("sum_j k b_j with k = exp(-sqdist(x_i, y_j))",
                          with_numbers));
    EXPECT_EQ(key, key_of("sum_i exp(-|x_i - y_j|²) b_i", with_numbers));
}

TEST(Key, IgnoresTheWidthOfWhatIsSummed) {
    EXPECT_EQ(
        key_of("sum_j exp(-|x_i - y_j|²) b_j", "x f32[3], y f32[3], b f32[1]"),
        key_of("sum_j exp(-|x_i - y_j|²) b_j",
               "x f32[3], y f32[3], b f32[200]"));
}

TEST(Key, DependsOnFormulaTypesAndPlan) {
    std::set<std::string> keys;
    keys.insert(key_of("sum_j exp(-|x_i - y_j|²) b_j", with_numbers));
    keys.insert(key_of("sum_j exp(-|x_i - y_j|²) b_j", with_numbers,
                       {.isa = Isa::X86_64_V3}));
    keys.insert(key_of("mean_j exp(-|x_i - y_j|²) b_j", with_numbers));
    keys.insert(key_of("sum_j exp(-|x_i - y_j|³) b_j", with_numbers));
    keys.insert(
        key_of("sum_j exp(-|x_i - y_j|²) b_j", "x f32[4], y f32[4], b f32"));
    keys.insert(
        key_of("sum_j exp(-|x_i - y_j|²) b_j", "x f64[3], y f32[3], b f32"));
    keys.insert(
        key_of("sum_j exp(-|x_i - y_j|²) b_j", "x f16[3], y f32[3], b f32"));
    keys.insert(
        key_of("sum_j exp(-|x_i - y_j|²) b_j", "x f32[3], y f32[3], b f32[1]"));
    keys.insert(key_of("argkmin_j(|x_i - y_j|², 3)", "x f32, y f32"));
    keys.insert(key_of("argkmin_j(|x_i - y_j|², 4)", "x f32, y f32"));
    EXPECT_EQ(keys.size(), 10u);
}

TEST(Key, IsSixtyFourDigits) {
    EXPECT_EQ((Key{{0x0123456789abcdefull, 0xfull, 0, 0xf0ull}}).hex(),
              "0123456789abcdef000000000000000f"
              "000000000000000000000000000000f0");
}

} // namespace
} // namespace tilefold::tests
