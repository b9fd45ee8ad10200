// tests/runtime/test_float_mode.cpp - what becomes of numbers below the
// smallest normal one: of results as flushes_results() says, operands are read
// everywhere.

#include "runtime/cpu/float_mode.h"

#include <cfenv>
#include <gtest/gtest.h>

namespace tilefold::test {
namespace {

constexpr float smallest_normal = 0x1p-126f, subnormal = 0x1p-140f;

template <class T> T times(T a, T b) {
    volatile T x = a, y = b; // while the program runs
    return x * y;
}

TEST(FloatMode, FlushesResultsWhereItSaysSo) {
    const bool flushes = cpu::flushes_results();
    const cpu::FloatMode kernels;
    EXPECT_EQ(times(smallest_normal, 0x1p-4f), flushes ? 0 : 0x1p-130f);
    EXPECT_EQ(times(-smallest_normal, 0x1p-4f), flushes ? 0 : -0x1p-130f);
    EXPECT_EQ(times(0x1p-1022, 0.25), flushes ? 0 : 0x1p-1024);
}

TEST(FloatMode, ReadsSubnormalOperands) {
    const cpu::FloatMode kernels;
    EXPECT_EQ(times(subnormal, 0x1p100f), 0x1p-40f);
    EXPECT_EQ(times(0x1p-1070, 0x1p100), 0x1p-970);
}

TEST(FloatMode, IsTheCallersAgainWithItsFlags) {
    std::fesetround(FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_OVERFLOW);
    {
        const cpu::FloatMode kernels;
        EXPECT_EQ(times(1 + 0x1p-23f, 1 + 0x1p-23f), 1 + 0x1p-22f);
        std::feraiseexcept(FE_DIVBYZERO);
    }
    const float upward = times(1 + 0x1p-23f, 1 + 0x1p-23f);
    const int flags = std::fetestexcept(FE_OVERFLOW | FE_DIVBYZERO);
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(upward, 1 + 0x1.8p-22f);
    EXPECT_EQ(flags, FE_OVERFLOW);
}

} // namespace
} // namespace tilefold::test
