// tests/numerics/test_sine.cpp - sin and cos of generated kernels against
// double: written in place, and as functions of the image.

#include "tests/numerics/kernel_case.h"
#include "tests/numerics/ulp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace tilefold::test {
namespace {

/// `function` alone, and beside others: five are too many to write in place.
std::vector<std::string> forms(const std::string& function) {
    return {function + "(x_i)",
            "where(x_i > 2*x_i - x_i, sin(2*x_i) + cos(2*x_i) + sin(3*x_i) + "
            "cos(3*x_i), " +
                function + "(x_i))"};
}

class Sine : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!can_run(GetParam()))
            GTEST_SKIP() << "this processor has no " << spelling_of(GetParam());
    }

    std::vector<float> evaluate(const std::string& text,
                                const std::vector<float>& x) const {
        const TestFormula map{
            text, {{"x", Axes::I, DType::F32, 0, 1, 1}}, Mode::Values};
        return run_map<float>(map, GetParam(), x);
    }

    /// Both functions, in every form.
    void expect_within(double most, const std::vector<float>& x) const {
        const auto check = [&](const char* name, double (*function)(double)) {
            for (const std::string& form : forms(name)) {
                const std::vector<float> got = evaluate(form, x);
                double worst = 0;
                for (std::size_t k = 0; k < x.size(); ++k)
                    worst = std::max(worst, ulps(got[k], function(x[k])));
                EXPECT_LE(worst, most) << form;
            }
        };
        check("sin", std::sin);
        check("cos", std::cos);
    }
};

/// To 10⁴ and of both signs, multiples of pi/2 among them.
std::vector<float> near_numbers() {
    std::vector<float> x{0, 1e-30f, 1e-10f, 1e-3f};
    std::mt19937 random(5);
    std::uniform_real_distribution<float> size(-3, 4);
    for (int k = 0; k < 200'000; ++k)
        x.push_back(std::pow(10.0f, size(random)));
    for (int k = 1; k < 6000; ++k) {
        const auto multiple = float(k * 1.5707963267948966);
        x.push_back(multiple);
        x.push_back(std::nextafter(multiple, 0.0f));
    }
    const auto count = std::ptrdiff_t(x.size());
    for (std::ptrdiff_t k = 0; k < count; ++k)
        x.push_back(-x[std::size_t(k)]);
    return x;
}

TEST_P(Sine, IsWithinSixTenthsOfAnUlp) {
    expect_within(0.62, near_numbers());
}

TEST_P(Sine, OfFarNumbersAmongNearOnes) {
    std::vector<float> x(64, 0.5f);
    x[3] = 1e10f;
    x[20] = -3e13f; // beyond what is computed in place
    x[37] = std::numeric_limits<float>::max();
    expect_within(1, x);
}

/// A loop that leaves far numbers out is run anew: products are exact, and half
/// of them are at most 2^40, to where these functions are computed in place.
TEST_P(Sine, OfFarPairsAmongNearOnes) {
    for (const char* function : {"sin", "cos"}) {
        const TestFormula sum{std::string("sum_j ") + function +
                                  "(274877906944*x_i*y_j)",
                              {{"x", Axes::I, DType::I8, 0, 1, 1},
                               {"y", Axes::J, DType::I8, 0, 1, 1}},
                              Mode::Reduce};
        // Only a loop in stages leaves them out, and of 16 registers none of
        // the model's plans has stages here.
        Plan plan = plans_of(sum, GetParam()).front();
        for (const std::int32_t cycles : {0, 6}) {
            plan.min_stage_cycles = cycles;
            EXPECT_LE(run_case(sum, GetParam(), &plan, 37, 700, Flush::Back),
                      1e-6)
                << function << ", " << cycles;
        }
    }
}

/// In a chain so long that a function of the image takes strips of numbers.
TEST_P(Sine, OfAStripIsTheSame) {
    std::vector<float> x = near_numbers();
    x.resize(2000);
    for (float far : {1e10f, -3e13f, std::numeric_limits<float>::max(),
                      std::numeric_limits<float>::infinity(), -0.0f,
                      std::numeric_limits<float>::quiet_NaN()})
        x.push_back(far);
    std::vector<float> halves;
    for (float number : x)
        halves.push_back(0.5f * number);
    for (const std::string name : {"sin", "cos"}) {
        const std::vector<float> wanted = evaluate(name + "(x_i)", halves);
        const std::vector<float> got =
            evaluate("where(sin(exp(x_i)) > 2, 1, " + name + "(0.5*x_i))", x);
        for (std::size_t k = 0; k < x.size(); ++k)
            EXPECT_TRUE(std::isnan(wanted[k])
                            ? std::isnan(got[k])
                            : std::bit_cast<std::uint32_t>(got[k]) ==
                                  std::bit_cast<std::uint32_t>(wanted[k]))
                << name << " of " << halves[k];
        EXPECT_EQ(std::signbit(got[2004]), name == "sin");
    }
}

TEST_P(Sine, OfWhatIsNoNumber) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> x(48, -0.0f);
    x[17] = infinity;
    x[18] = -infinity;
    x[40] = nan;
    for (const std::string& form : forms("sin")) {
        const std::vector<float> got = evaluate(form, x);
        EXPECT_TRUE(std::signbit(got[0]) && got[0] == 0) << form;
        EXPECT_TRUE(std::signbit(got[16]) && got[16] == 0) << form;
        for (std::size_t k : {17u, 18u, 40u})
            EXPECT_TRUE(std::isnan(got[k])) << form << " of " << x[k];
    }
    for (const std::string& form : forms("cos")) {
        const std::vector<float> got = evaluate(form, x);
        EXPECT_EQ(got[0], 1) << form;
        EXPECT_TRUE(std::isnan(got[17]) && std::isnan(got[40])) << form;
    }
}

INSTANTIATE_TEST_SUITE_P(Isas, Sine,
                         testing::Values(Isa::X86_64_V3, Isa::X86_64_V4));

} // namespace
} // namespace tilefold::test
