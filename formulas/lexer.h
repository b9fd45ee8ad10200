// formulas/lexer.h - text to tokens.
#pragma once

#include "formulas/ast.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

enum class TokenKind : std::uint8_t {
#define TOKEN(kind, spelling, level) kind,
#include "formulas/tokens.def"
    Number,      ///< value
    Name,        ///< name, axes
    Superscript, ///< value, or name where it is one: `x²`, `xⁿ`
    Lowered,     ///< name: `1` of `‖v‖₁`, which only messages speak of
    End,
};

/// How tightly an operator binds, loosest first.
enum class Level : std::uint8_t { None, Or, And, Comparison, Sum, Product };

struct Token {
    TokenKind kind = TokenKind::End;
    bool space_before = false;
    /// Name: typed with a symbol or a Greek letter, so never a function.
    bool symbolic = false;
    bool is_integer = false; ///< Number: digits only
    ast::Axes axes = ast::Axes::None;
    double value = 0;
    std::string name; ///< normalised, without its axis
    Span span;
};

/// The spelling of an operator or of punctuation; empty for other kinds.
std::string_view spelling(TokenKind kind);
Level level(TokenKind kind);

/// Longest text that is read, in bytes.
inline constexpr std::size_t longest_formula = 100'000;

/// The tokens of `text`; the last one is End. Throws Error for what is no
/// token. Linear in the length of the text.
std::vector<Token> tokenise(std::string_view text);

} // namespace tilefold
