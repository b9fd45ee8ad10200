// formulas/utf8.h - characters of a formula: decoding, classes, widths.
//
// All knowledge of Unicode comes from utf8proc; positions are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold::utf8 {

/// One character of a text and the bytes it takes; length 0: not UTF-8.
struct Character {
    char32_t code = 0;
    std::uint32_t length = 0;
};

/// The character that starts at byte `at`, which must be inside `text`.
Character decode(std::string_view text, std::size_t at);
std::string encode(char32_t code);

/// The byte at which `text` stops being UTF-8; its size if it never does.
std::size_t first_invalid(std::string_view text);

/// The normal form NFKC; the text itself if it is not UTF-8.
std::string nfkc(std::string_view text);

/// Returns the columns of a terminal that a character takes: 0 for a combining
/// mark, 2 for a wide character.
int width(char32_t code);

/// Whether it is white space, a line end, or an invisible format character.
bool is_space(char32_t code);
/// Whether it is a control character, which is never shown.
bool is_control(char32_t code);
bool starts_name(char32_t code);
bool continues_name(char32_t code);

/// Where a character stands on the line: `ⱼ` below it, `²` above it.
enum class Position : std::uint8_t { Line, Subscript, Superscript };
Position position(char32_t code);

/// The plain letter or digit of a raised or lowered one; `−` gives "-".
std::string plain(char32_t code);

} // namespace tilefold::utf8
