// compiler/backends/cpu/lower/arena.h - scratch memory of a kernel, handed out
// from one end.
#pragma once

#include <cstdint>

namespace tilefold {

/// Of a cache.
inline constexpr std::int64_t line_bytes = 64;

constexpr std::int64_t round_up(std::int64_t number, std::int64_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

/// Most stages a software-pipelined loop is cut into beyond its first: columns
/// that it may read before the first and after the last.
inline constexpr std::int64_t most_run_ahead = 8;

/// Rows of a matrix and of sums that the matrix unit takes at once, two
/// registers; and `rows` with those of a last square that are none.
inline constexpr std::int64_t square_rows = 32;
constexpr std::int64_t whole_squares(std::int64_t rows) {
    return round_up(rows, square_rows);
}

/// A place from the beginning of scratch, or of the state: so many bytes or
/// slots, plus so many times the width of the call.
struct WidthOffset {
    std::int64_t offset = 0, per_width = 0;
};

/// The first place that nothing has taken.
class Arena {
public:
    explicit Arena(WidthOffset end = {}) : end_(end) {}

    WidthOffset end() const { return end_; }
    /// `bytes`, and the next place on a multiple of `alignment`.
    std::int64_t take(std::int64_t bytes, std::int64_t alignment = 1) {
        const std::int64_t place = end_.offset;
        end_.offset += round_up(bytes, alignment);
        return place;
    }
    /// Bytes that each component of the call's width takes.
    void take_per_width(std::int64_t bytes) { end_.per_width += bytes; }
    void align(std::int64_t alignment) {
        end_.offset = round_up(end_.offset, alignment);
    }

private:
    WidthOffset end_;
};

} // namespace tilefold
