// formulas/lexer.h - text to tokens.
#pragma once

#include "formulas/token.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tilefold {

/// A longer text is not read; the length is in bytes.
inline constexpr std::size_t longest_formula = 100'000;

/// The tokens of `text`; the last one is End. Throws Error for what is no
/// token. Linear in the length of the text.
std::vector<Token> tokenise(std::string_view text);

} // namespace tilefold
