// formulas/span.h - a part of a formula's text.
#pragma once

#include <cstdint>

namespace tilefold {

/// A half-open range of bytes in the text of a formula.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    friend bool operator==(const Span&, const Span&) = default;
};

} // namespace tilefold
