// tests/runtime/test_dense_copy.cpp - strided arrays to dense copies and back,
// slice by slice.

#include "runtime/core/dense_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace tilefold::test {
namespace {

/// Every element of the array has a number of its own, so that a copy tells
/// where it came from.
template <class T> class CopyOf {
public:
    CopyOf(std::vector<CopiedAxis> axes, std::int64_t first, std::size_t size)
        : axes_(std::move(axes)), first_(first), array_(size),
          copy_(bytes(), sizeof(T)) {
        std::iota(array_.begin(), array_.end(), T(1));
    }

    void check(std::size_t most) {
        const std::vector<T> copied = packed(most);
        std::vector<T> back(array_.size(), T(0));
        char* to = reinterpret_cast<char*>(back.data() + first_);
        copy_.each_slice(most, [&](const DenseCopy::Slice& slice) {
            const char* from = reinterpret_cast<const char*>(copied.data());
            slice.unpack(from + slice.in_copy, to);
        });
        check_axis(0, 0, 0, copied, back);
    }

private:
    std::vector<CopiedAxis> bytes() const {
        std::vector<CopiedAxis> in_bytes = axes_;
        for (CopiedAxis& axis : in_bytes)
            axis.stride *= std::int64_t(sizeof(T));
        return in_bytes;
    }

    std::vector<T> packed(std::size_t most) {
        std::vector<T> copied(copy_.bytes() / sizeof(T));
        std::size_t next = 0;
        copy_.each_slice(most, [&](const DenseCopy::Slice& slice) {
            EXPECT_EQ(std::size_t(slice.in_copy), next);
            EXPECT_LE(slice.bytes, std::max(most, sizeof(T)));
            next += slice.bytes;
            std::vector<char> sent(slice.bytes);
            slice.pack(reinterpret_cast<const char*>(array_.data() + first_),
                       sent.data());
            std::memcpy(reinterpret_cast<char*>(copied.data()) + slice.in_copy,
                        sent.data(), sent.size());
        });
        EXPECT_EQ(next, copy_.bytes());
        return copied;
    }

    void check_axis(std::size_t d, std::int64_t at, std::int64_t in_copy,
                    const std::vector<T>& copied, const std::vector<T>& back) {
        if (d == axes_.size()) {
            const T wanted = array_[std::size_t(first_ + at)];
            EXPECT_EQ(copied[std::size_t(in_copy) / sizeof(T)], wanted);
            EXPECT_EQ(back[std::size_t(first_ + at)], wanted);
            return;
        }
        for (std::int64_t k = 0; k < axes_[d].extent; ++k)
            check_axis(d + 1, at + k * axes_[d].stride,
                       in_copy + k * copy_.stride(d), copied, back);
    }

    std::vector<CopiedAxis> axes_; ///< strides in elements
    std::int64_t first_;
    std::vector<T> array_;
    DenseCopy copy_;
};

template <class T> void check_layouts() {
    for (const std::size_t most : {1, 8, 64, 100, 1000, 1 << 20}) {
        SCOPED_TRACE(most);
        CopyOf<T>({{7, 3}, {3, 1}}, 0, 21).check(most);         // rows
        CopyOf<T>({{7, 1}, {3, 7}}, 0, 21).check(most);         // columns
        CopyOf<T>({{7, -3}, {3, -1}}, 20, 21).check(most);      // backwards
        CopyOf<T>({{7, 12}, {3, 2}}, 1, 90).check(most);        // with gaps
        CopyOf<T>({{4, 0}, {7, 3}, {3, 1}}, 0, 21).check(most); // repeated
        CopyOf<T>({{2, 24}, {4, 1}, {1, 99}, {3, 8}, {2, 4}}, 0, 48)
            .check(most);
        CopyOf<T>({{5, 1}, {3, 1}}, 0, 7).check(most); // sliding windows
        CopyOf<T>({}, 3, 5).check(most);               // one element
    }
}

TEST(DenseCopy, TakesEveryElementToItsPlaceAndBack) {
    check_layouts<char>();
    check_layouts<short>();
    check_layouts<int>();
    check_layouts<double>();
}

TEST(DenseCopy, HasEveryElementOnce) {
    const CopiedAxis axes[] = {{4, 0}, {100, 8}, {3, 800}};
    EXPECT_EQ(DenseCopy(axes, 8).bytes(), 2400u);
    const CopiedAxis none[] = {{4, 8}, {0, 8}};
    DenseCopy empty(none, 8);
    EXPECT_EQ(empty.bytes(), 0u);
    empty.each_slice(8, [](const DenseCopy::Slice&) { FAIL(); });
}

} // namespace
} // namespace tilefold::test
