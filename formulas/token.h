// formulas/token.h - what the text of a formula is made of.
#pragma once

#include "formulas/ast.h"

#include <cstdint>
#include <string>

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
    /// Whether a Name is typed with a symbol or a Greek letter, and so is
    /// never a function.
    bool symbolic = false;
    bool is_integer = false; ///< Number: digits only
    ast::Axes axes = ast::Axes::None;
    double value = 0;
    std::string name; ///< normalised, without its axis
    Span span;
};

} // namespace tilefold
