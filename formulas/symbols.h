// formulas/symbols.h - look-ups in the table of symbols, tokens.def.
#pragma once

#include "formulas/token.h"

#include <optional>
#include <string_view>

namespace tilefold {

/// The spelling of an operator or of punctuation; empty for other kinds.
std::string_view spelling(TokenKind kind);
Level level(TokenKind kind);
/// Whether the token ends what a bracket begins.
bool closes(TokenKind kind);

struct Spelling {
    std::string_view text;
    TokenKind kind;
};

/// A symbol that is read as a name: `∞` as `inf`.
struct Letter {
    std::string_view text;
    std::string_view name;
};

/// A symbol that is met often and means nothing.
struct Refused {
    std::string_view text;
    Code code;
};

/// Returns the longest row that `text` starts with, or null. Words are not
/// symbols.
const Spelling* find_symbol(std::string_view text);
const Letter* find_letter(std::string_view text);
const Refused* find_refused(std::string_view text);

/// The token of a reserved word.
std::optional<TokenKind> find_word(std::string_view word);

/// Returns the function that a name calls as well, as "log" for "ln"; it is
/// empty where there is none.
std::string_view find_alias(std::string_view name);

/// Returns our name for a function that is known under another name elsewhere,
/// as "log" for "ln"; it is empty where there is none.
std::string_view find_synonym(std::string_view name);

/// Returns our name for a reduction, given in small letters: "mean" for "avg".
std::string_view find_reduction_synonym(std::string_view name);

} // namespace tilefold
