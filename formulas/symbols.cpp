// formulas/symbols.cpp - the rows of tokens.def, as tables.
#include "formulas/symbols.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace tilefold {

namespace {

struct Operator {
    std::string_view spelling;
    Level level;
};

constexpr Operator operators[] = {
#define TOKEN(kind, spelling, level) {spelling, Level::level},
#include "formulas/tokens.def"
};

constexpr Spelling spellings[] = {
#define TOKEN(kind, spelling, level) {spelling, TokenKind::kind},
#define SPELLING(kind, spelling) {spelling, TokenKind::kind},
#include "formulas/tokens.def"
};

constexpr Letter letters[] = {
#define LETTER(symbol, name) {symbol, name},
#include "formulas/tokens.def"
};

constexpr Refused refused[] = {
#define REFUSED(spelling, code) {spelling, code},
#include "formulas/tokens.def"
};

struct Synonym {
    std::string_view name;
    std::string_view target;
};

constexpr Synonym synonyms[] = {
#define SYNONYM(name, target) {name, target},
#include "formulas/tokens.def"
};

constexpr Synonym aliases[] = {
#define ALIAS(name, target) {name, target},
#include "formulas/tokens.def"
};

constexpr Synonym reduction_synonyms[] = {
#define REDUCTION_SYNONYM(name, target) {name, target},
#include "formulas/tokens.def"
};

std::string_view look_up(std::span<const Synonym> rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &Synonym::name);
    return found == rows.end() ? "" : found->target;
}

bool is_word(std::string_view text) {
    return !text.empty() && text[0] >= 'a' && text[0] <= 'z';
}

/// The longest row of a table that `text` starts with; null: none.
template <class Row, std::size_t count>
const Row* longest_match(const Row (&rows)[count], std::string_view text) {
    const Row* best = nullptr;
    for (const Row& row : rows)
        if (!is_word(row.text) && text.starts_with(row.text) &&
            (best == nullptr || row.text.size() > best->text.size()))
            best = &row;
    return best;
}

} // namespace

const Spelling* find_symbol(std::string_view text) {
    return longest_match(spellings, text);
}

const Letter* find_letter(std::string_view text) {
    return longest_match(letters, text);
}

const Refused* find_refused(std::string_view text) {
    return longest_match(refused, text);
}

std::optional<TokenKind> find_word(std::string_view word) {
    for (const Spelling& row : spellings)
        if (is_word(row.text) && row.text == word)
            return row.kind;
    return std::nullopt;
}

std::string_view find_synonym(std::string_view name) {
    return look_up(synonyms, name);
}

std::string_view find_alias(std::string_view name) {
    return look_up(aliases, name);
}

std::string_view find_reduction_synonym(std::string_view name) {
    return look_up(reduction_synonyms, name);
}

std::string_view spelling(TokenKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    return index < std::size(operators) ? operators[index].spelling : "";
}

bool closes(TokenKind kind) {
    return kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
           kind == TokenKind::RightAngle || kind == TokenKind::RightFloor ||
           kind == TokenKind::RightCeiling;
}

Level level(TokenKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    return index < std::size(operators) ? operators[index].level : Level::None;
}

} // namespace tilefold
