// tests/runtime/test_extents.cpp - numbers by dimension, few and many.

#include "runtime/core/extents.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tilefold::test {
namespace {

/// 0, 1, 2 …, one by one.
Extents counted(std::int64_t size) {
    Extents extents;
    for (std::int64_t k = 0; k < size; ++k)
        extents.push_back(k);
    return extents;
}

std::vector<std::int64_t> numbers(const Extents& extents) {
    return {extents.begin(), extents.end()};
}

/// Sizes on both sides of what lies in place.
class ExtentsTest : public testing::TestWithParam<std::int64_t> {
protected:
    Extents extents_ = counted(GetParam());
    std::vector<std::int64_t> expected_ = numbers(extents_);
};

TEST_P(ExtentsTest, HoldsWhatWasAppended) {
    ASSERT_EQ(std::int64_t(extents_.size()), GetParam());
    for (std::int64_t k = 0; k < GetParam(); ++k)
        EXPECT_EQ(extents_[std::size_t(k)], k);
    EXPECT_EQ(extents_.empty(), GetParam() == 0);
}

TEST_P(ExtentsTest, CopiesAreApart) {
    Extents copy = extents_;
    copy.push_back(-1);
    EXPECT_EQ(numbers(extents_), expected_);
    expected_.push_back(-1);
    EXPECT_EQ(numbers(copy), expected_);
    EXPECT_NE(copy, extents_);
}

TEST_P(ExtentsTest, MovesTakeAllNumbers) {
    Extents taken = std::move(extents_);
    EXPECT_EQ(numbers(taken), expected_);
    Extents assigned{7, 7};
    assigned = std::move(taken);
    EXPECT_EQ(numbers(assigned), expected_);
}

TEST_P(ExtentsTest, GrowAtBothEnds) {
    extents_.push_front(-1);
    expected_.insert(expected_.begin(), -1);
    EXPECT_EQ(numbers(extents_), expected_);
    extents_.resize(extents_.size() + 3, 9);
    expected_.resize(expected_.size() + 3, 9);
    EXPECT_EQ(numbers(extents_), expected_);
    EXPECT_EQ(extents_.back(), 9);
    extents_.pop_back();
    expected_.pop_back();
    EXPECT_EQ(numbers(extents_), expected_);
}

TEST_P(ExtentsTest, AreAssignedAnew) {
    const std::vector<std::int64_t> others{5, 4, 3, 2, 1};
    extents_.assign(others.begin(), others.end());
    EXPECT_EQ(numbers(extents_), others);
    extents_.clear();
    EXPECT_EQ(extents_, Extents());
}

INSTANTIATE_TEST_SUITE_P(Sizes, ExtentsTest,
                         testing::Values(0, 1, 3, 4, 5, 8, 9));

} // namespace
} // namespace tilefold::test
