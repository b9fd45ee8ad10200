// compiler/backends/cpu/lower/arena.h - scratch memory of a kernel, handed out
// from one end.
#pragma once

#include <cstdint>

namespace tilefold {

/// A cache line has so many bytes.
inline constexpr std::int64_t line_bytes = 64;

constexpr std::int64_t round_up(std::int64_t number, std::int64_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

/// A software-pipelined loop is cut into at most so many stages beyond its
/// first. It may read as many columns before the first and after the last.
inline constexpr std::int64_t most_run_ahead = 8;

/// The matrix unit takes so many rows of a matrix and of sums at once, in two
/// registers. whole_squares() counts the rows that fill up a last square, too.
inline constexpr std::int64_t square_rows = 32;
constexpr std::int64_t whole_squares(std::int64_t rows) {
    return round_up(rows, square_rows);
}

/// A place counted from the beginning of scratch, or of the state: so many
/// bytes or slots, plus so many times the width of the call.
struct WidthOffset {
    std::int64_t offset = 0, per_width = 0;
};

/// Hands out places one after the other, each the first that nothing has
/// taken.
class Arena {
public:
    explicit Arena(WidthOffset end = {}) : end_(end) {}

    WidthOffset end() const { return end_; }
    /// Takes `bytes` at the next place on a multiple of `alignment`, and
    /// returns it.
    std::int64_t take(std::int64_t bytes, std::int64_t alignment = 1) {
        const std::int64_t place = end_.offset;
        end_.offset += round_up(bytes, alignment);
        return place;
    }
    /// Takes `bytes` for each component of the call's width.
    void take_per_width(std::int64_t bytes) { end_.per_width += bytes; }
    void align(std::int64_t alignment) {
        end_.offset = round_up(end_.offset, alignment);
    }

private:
    WidthOffset end_;
};

} // namespace tilefold
