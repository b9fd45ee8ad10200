// tests/runtime/test_element.cpp - numbers to elements of other dtypes.

#include "runtime/core/element.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace tilefold::test {
namespace {

double half_of_bits(std::uint16_t bits) {
    return element_at(&bits, DType::F16);
}

std::uint16_t bits_of_half(double value) {
    std::uint16_t bits = 0;
    store_element(value, DType::F16, &bits);
    return bits;
}

/// The number by the definition of a float16.
double defined(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 0
                            ? std::ldexp(fraction, -24)
                            : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

TEST(Float16, EveryNumberIsReadAndStored) {
    for (std::uint32_t bits = 0; bits < 1 << 16; ++bits)
        if ((bits & 0x7c00) != 0x7c00) {
            ASSERT_EQ(half_of_bits(std::uint16_t(bits)),
                      defined(std::uint16_t(bits)));
            ASSERT_EQ(bits_of_half(defined(std::uint16_t(bits))), bits);
        }
    EXPECT_EQ(half_of_bits(0x7c00), INFINITY);
    EXPECT_EQ(bits_of_half(-INFINITY), 0xfc00);
    EXPECT_TRUE(std::isnan(half_of_bits(bits_of_half(NAN))));
}

/// By way of a float32 that is rounded, too, numbers beside a tie would become
/// what the tie becomes.
TEST(Float16, IsRoundedOnce) {
    for (std::uint16_t low = 0; low < 0x7bff; ++low) {
        const auto high = std::uint16_t(low + 1);
        const double tie = (defined(low) + defined(high)) / 2;
        const std::uint16_t even = low % 2 == 0 ? low : high;
        ASSERT_EQ(bits_of_half(tie), even) << tie;
        ASSERT_EQ(bits_of_half(std::nextafter(tie, 0.0)), low) << tie;
        ASSERT_EQ(bits_of_half(std::nextafter(tie, 1e9)), high) << tie;
        ASSERT_EQ(bits_of_half(-std::nextafter(tie, 1e9)), high | 0x8000);
    }
    EXPECT_EQ(bits_of_half(65519.999999), 0x7bff);
    EXPECT_EQ(bits_of_half(65520), 0x7c00);
    EXPECT_EQ(bits_of_half(std::numeric_limits<double>::max()), 0x7c00);
    EXPECT_EQ(bits_of_half(std::numeric_limits<double>::denorm_min()), 0);
}

} // namespace
} // namespace tilefold::test
