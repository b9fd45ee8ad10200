// tests/numerics/test_sine.cpp - sin and cos of generated kernels against
// double: written in place, and as functions of the image.

#include "tests/numerics/kernel_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace tilefold::test {
namespace {

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
};

/// `function` alone, and beside others: five are too many to write in place.
std::vector<std::string> forms(const std::string& function) {
    return {function + "(x_i)",
            "where(x_i > 2*x_i - x_i, sin(2*x_i) + cos(2*x_i) + sin(3*x_i) + "
            "cos(3*x_i), " +
                function + "(x_i))"};
}

/// Of numbers to 10⁴, multiples of pi/2 among them, ascending in size.
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

double worst(const std::vector<float>& x, const std::vector<float>& got,
             double (*function)(double)) {
    double most = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double wanted = function(double(x[k]));
        const auto rounded = float(std::fabs(wanted));
        const double step =
            double(rounded) - double(std::nextafter(rounded, 0.0f));
        most = std::max(most, wanted == got[k]
                                  ? 0
                                  : std::fabs(wanted - double(got[k])) / step);
    }
    return most;
}

TEST_P(Sine, IsWithinSixTenthsOfAnUlp) {
    const std::vector<float> x = near_numbers();
    for (const std::string& form : forms("sin"))
        EXPECT_LE(worst(x, evaluate(form, x), std::sin), 0.62) << form;
    for (const std::string& form : forms("cos"))
        EXPECT_LE(worst(x, evaluate(form, x), std::cos), 0.62) << form;
}

TEST_P(Sine, OfFarNumbersAmongNearOnes) {
    const float most = std::numeric_limits<float>::max();
    std::vector<float> x(64, 0.5f);
    x[3] = 1e10f;
    x[20] = -3e13f; // beyond what is computed in place
    x[37] = most;
    for (const std::string& form : forms("sin"))
        EXPECT_LE(worst(x, evaluate(form, x), std::sin), 1) << form;
    for (const std::string& form : forms("cos"))
        EXPECT_LE(worst(x, evaluate(form, x), std::cos), 1) << form;
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
