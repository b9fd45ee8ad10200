// tests/runtime/test_special.cpp - the functions of special.h are of every
// double: nothing is thrown, no call is long, whatever the floating-point mode.

#include "compiler/ir/special.h"
#include "runtime/cpu/float_mode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace tilefold::test {
namespace {

using Function = double(double, double) noexcept;
constexpr std::pair<std::string_view, Function*> functions[] = {
    {"polygamma", special::polygamma}, {"bessel_j", special::bessel_j},
    {"bessel_y", special::bessel_y},   {"bessel_i", special::bessel_i},
    {"bessel_k", special::bessel_k},
};

// Ten times what the slowest takes; Boost by itself takes up to 40 ms.
#ifdef __OPTIMIZE__
constexpr double most_seconds = 1e-4;
#else
constexpr double most_seconds = 1e-3;
#endif

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// The shortest of a few calls.
double seconds_of(Function* function, double n, double x) {
    double least = std::numeric_limits<double>::infinity();
    for (int call = 0; call < 8 && least > most_seconds; ++call) {
        const double before = processor_seconds();
        [[maybe_unused]] volatile double value = function(n, x);
        least = std::min(least, processor_seconds() - before);
    }
    return least;
}

void expect_short_calls(double n, double x) {
    for (const auto& [name, function] : functions)
        EXPECT_LT(seconds_of(function, n, x), most_seconds)
            << name << "(" << n << ", " << x << ")";
}

/// Returns special numbers of both signs.
std::vector<double> special_numbers() {
    using Limits = std::numeric_limits<double>;
    std::vector<double> all = {0,
                               Limits::denorm_min(),
                               1e-310,
                               Limits::min(),
                               3e-308,
                               1e-300,
                               1e-290,
                               1e-200,
                               1e-16,
                               1e-8,
                               0.001,
                               0.25,
                               0.5,
                               1,
                               1.5,
                               2,
                               2.5,
                               3,
                               10,
                               19.99,
                               25,
                               25.5,
                               100,
                               100.5,
                               170,
                               171,
                               300.25,
                               500.5,
                               700,
                               709.9,
                               999,
                               999.5,
                               1000,
                               1000.5,
                               1001,
                               1500,
                               1501,
                               30000.3,
                               76426.4,
                               1e6,
                               1e8,
                               2147483647,
                               2147483648,
                               4294967296,
                               1e12 + 0.5,
                               1e16,
                               9.3e18,
                               1e20,
                               1e100,
                               1e300,
                               Limits::max(),
                               Limits::infinity(),
                               Limits::quiet_NaN()};
    const std::size_t count = all.size();
    for (std::size_t k = 0; k < count; ++k)
        all.push_back(-all[k]);
    return all;
}

void call_with_special_numbers() {
    const std::vector<double> numbers = special_numbers();
    for (double n : numbers)
        for (double x : numbers)
            expect_short_calls(n, x);
}

TEST(SpecialFunctions, TakeAnyDoublesInBoundedTime) {
    call_with_special_numbers();
}

TEST(SpecialFunctions, TakeAnyDoublesAsKernelsCallThem) {
    const cpu::FloatMode mode;
    call_with_special_numbers();
}

TEST(SpecialFunctions, TakeRandomDoubles) {
    const cpu::FloatMode mode;
    std::mt19937_64 random(0);
    std::uniform_real_distribution<double> order(-1001, 1001), power(-320, 309),
        near(0.9, 1.1);
    for (int k = 0; k < 4000; ++k) {
        const double n = k % 2 ? order(random) : std::rint(order(random));
        const double sign = random() % 2 ? 1 : -1;
        expect_short_calls(n, sign * std::pow(10, power(random)));
        expect_short_calls(n, sign * std::pow(10, power(random) / 50));
        expect_short_calls(n, n * near(random));
        expect_short_calls(n / 100, sign * n * n * near(random));
        expect_short_calls(std::bit_cast<double>(random()),
                           std::bit_cast<double>(random()));
    }
}

TEST(SpecialFunctions, HaveNoValueOfOrdersThatAreNone) {
    for (const auto& [name, function] : functions)
        for (double n : {1000.5, -1001.0, 1e20, -1e300, HUGE_VAL, double(NAN)})
            for (double x : {0.5, 20.0, 1e5})
                EXPECT_TRUE(std::isnan(function(n, x))) << name << n;
    for (double n : {0.5, -1.0, 1e-300, 2.000001, -0.5})
        EXPECT_TRUE(std::isnan(special::polygamma(n, 2))) << n;
}

} // namespace
} // namespace tilefold::test
