// tests/numerics/test_exponential.cpp - exp and exp2 of generated kernels
// against long double: units in the last place over the whole range, and the
// values at its ends.

#include "runtime/cpu/float_mode.h"
#include "tests/numerics/kernel_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tilefold::test {
namespace {

/// Distance of `got` from `wanted` in steps of T at `wanted`.
template <class T> double steps_between(T got, long double wanted) {
    const long double size = std::fabs(wanted);
    const T rounded = T(size);
    if (std::isinf(rounded))
        return std::isinf(got) ? 0 : INFINITY;
    const T above = std::nextafter(rounded, std::numeric_limits<T>::infinity());
    const T below = std::nextafter(rounded, T(0));
    const long double step = size < rounded ? (long double)rounded - below
                                            : (long double)above - rounded;
    return double(std::fabs((long double)got - wanted) / step);
}

template <class T> std::vector<T> samples(double from, double to, int count) {
    std::vector<T> values;
    for (int k = 0; k <= count; ++k)
        values.push_back(T(from + (to - from) * k / count));
    return values;
}

template <class T> constexpr DType dtype_of();
template <> constexpr DType dtype_of<float>() {
    return DType::F32;
}
template <> constexpr DType dtype_of<double>() {
    return DType::F64;
}

template <class T>
std::vector<T> evaluate(const char* formula, Isa isa,
                        const std::vector<T>& values) {
    const TestFormula map{
        formula, {{"x", Axes::I, dtype_of<T>(), 0, 1, 1}}, Mode::Values};
    const cpu::FloatMode mode;
    return run_map<T>(map, isa, values);
}

/// Results below the smallest normal number are 0.
template <class T>
double worst(const char* formula, Isa isa, double from, double to,
             long double (*function)(long double)) {
    const std::vector<T> x = samples<T>(from, to, 400'000);
    const std::vector<T> got = evaluate(formula, isa, x);
    double most = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const long double wanted = function(x[k]);
        const bool is_flushed =
            got[k] == 0 && wanted < std::numeric_limits<T>::min();
        most = std::max(most, is_flushed ? 0 : steps_between(got[k], wanted));
    }
    return most;
}

class Exponential : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!can_run(GetParam()))
            GTEST_SKIP() << "this processor has no " << spelling_of(GetParam());
    }
};

TEST_P(Exponential, IsWithinOneUlpAndATenth) {
    const Isa isa = GetParam();
    EXPECT_LE(worst<float>("exp2(x_i)", isa, -149, 128, std::exp2), 1.1);
    EXPECT_LE(worst<double>("exp2(x_i)", isa, -1074, 1024, std::exp2), 1.1);
    EXPECT_LE(worst<float>("exp(x_i)", isa, -103, 88.7, std::exp), 1.1);
    EXPECT_LE(worst<double>("exp(x_i)", isa, -745, 709.7, std::exp), 1.1);
}

template <class T> void expect_ends(const char* formula, Isa isa) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T most = std::numeric_limits<T>::max();
    const std::vector<T> x{-infinity, infinity,
                           -most,     most,
                           T(-0.0),   T(0),
                           T(1e-30),  T(-2000),
                           T(2000),   std::numeric_limits<T>::quiet_NaN()};
    const std::vector<T> wanted{0, infinity, 0, infinity, 1, 1, 1, 0, infinity};
    const std::vector<T> got = evaluate(formula, isa, x);
    for (std::size_t k = 0; k < wanted.size(); ++k)
        EXPECT_EQ(got[k], wanted[k]) << formula << " of " << x[k];
    EXPECT_TRUE(std::isnan(got.back())) << formula << " of NaN";
}

long double exp2_of_less(long double x) {
    return std::exp2(-std::fabs(x));
}
long double exp_of_less(long double x) {
    return std::exp(-std::fabs(x));
}

/// Nothing is spent on results beyond the largest number there.
TEST_P(Exponential, IsAsExactWhereItIsKnownToBeAtMostOne) {
    const Isa isa = GetParam();
    EXPECT_LE(worst<float>("exp2(-|x_i|)", isa, -128, 149, exp2_of_less), 1.1);
    EXPECT_LE(worst<double>("exp2(-|x_i|)", isa, -1024, 1074, exp2_of_less),
              1.1);
    EXPECT_LE(worst<float>("exp(-|x_i|)", isa, -88.7, 103, exp_of_less), 1.1);
    EXPECT_LE(worst<double>("exp(-|x_i|)", isa, -709.7, 745, exp_of_less), 1.1);
}

template <class T> void expect_ends_of_less(const char* formula, Isa isa) {
    const std::vector<T> got =
        evaluate<T>(formula, isa, {T(INFINITY), T(1e38), T(-0.0), T(NAN)});
    EXPECT_EQ(std::vector<T>(got.begin(), got.begin() + 3),
              (std::vector<T>{0, 0, 1}));
    EXPECT_TRUE(std::isnan(got[3]));
}

TEST_P(Exponential, IsRightAtTheEndsWhereItIsKnownToBeAtMostOne) {
    for (const char* formula : {"exp2(-|x_i|)", "exp(-|x_i|)"}) {
        expect_ends_of_less<float>(formula, GetParam());
        expect_ends_of_less<double>(formula, GetParam());
    }
}

TEST_P(Exponential, IsRightAtTheEnds) {
    for (const char* formula : {"exp2(x_i)", "exp(x_i)"}) {
        expect_ends<float>(formula, GetParam());
        expect_ends<double>(formula, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(Isas, Exponential,
                         testing::Values(Isa::X86_64_V3, Isa::X86_64_V4));

} // namespace
} // namespace tilefold::test
