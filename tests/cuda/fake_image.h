// tests/cuda/fake_image.h - what the fake compiler gives for machine code and
// the fake driver loads: a library of the host behind a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

struct FakeImage {
    static constexpr char right_magic[16] = "fake image 1";
    char magic[16] = {};
    char architecture[16] = {}; ///< "sm_90"
    std::uint64_t size = 0;     ///< of the library, which follows
    std::uint64_t sum = 0;      ///< of its bytes

    static std::uint64_t sum_of(const char* bytes, std::uint64_t size) {
        std::uint64_t sum = 1469598103934665603u;
        for (std::uint64_t k = 0; k < size; ++k)
            sum = (sum ^ std::uint8_t(bytes[k])) * 1099511628211u;
        return sum;
    }
    bool is_right() const {
        return std::memcmp(magic, right_magic, sizeof magic) == 0;
    }
};
